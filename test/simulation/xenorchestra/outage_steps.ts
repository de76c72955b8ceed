/**
 * A pool that is lost for long, while all else goes well: what happens to machines of other pools meanwhile, and what
 * Xen Orchestra does not see.
 * @module
 */
import { remove, smuggle } from "./machine_steps.ts";
import { REST, SICKEN } from "../steps/outage.ts";
import type { XenOrchestraWorld } from "./cloud.ts";
import type { Step } from "../steps/mod.ts";

/** What happens while a pool is lost for long. */
export const OUTAGE_STEPS: readonly Step<XenOrchestraWorld>[] = [remove, smuggle, SICKEN, REST];

/** Loses a pool for a while. In the same moment a machine of another one may go there, which nobody sees. */
export function loseLong(world: XenOrchestraWorld, ms: number): void {
  const { random, cloud, trace } = world;
  const pool = random.pick(cloud.pools);
  if (random.chance(0.5)) {
    for (const [name, vmId] of world.machines) {
      if (!random.chance(0.3) || !world.truth.isRunning(vmId)) continue;
      world.invariants.proofs.fleet.noteMove(vmId);
      cloud.state.migratePool(vmId, pool.id, { hostId: random.pick(pool.hostIds) });
      if (world.findNode(name)) world.setReady(name, false);
    }
  }
  cloud.state.dropPool(pool.id, ms);
  trace.note("STEP", `pool lost for long: ${pool.id} for ${ms} ms`);
  world.noteChange();
}
