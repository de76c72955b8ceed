/**
 * What happens in stories of Xen Orchestra.
 * @module
 */
import { type Script, REST, SICKEN, type Step } from "../steps/mod.ts";
import { type XenOrchestraCloud, XenOrchestraWorld } from "./cloud.ts";
import { CLOUD_STEPS } from "./cloud_steps.ts";
import { MACHINE_STEPS, POWER_STEPS, remove, smuggle } from "./machine_steps.ts";

/** What happens while a pool is lost for long. */
const OUTAGE_STEPS: readonly Step<XenOrchestraWorld>[] = [remove, smuggle, SICKEN, REST];

/** Loses a pool for a while. In the same moment a machine of another one may go there, which nobody sees. */
function loseLong(world: XenOrchestraWorld, ms: number): void {
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

/** See {@linkcode Script}. */
export const XEN_ORCHESTRA: Script<XenOrchestraCloud> = {
  createWorld: (seed, toSettings) => new XenOrchestraWorld(seed, toSettings),
  steps: [...MACHINE_STEPS, ...CLOUD_STEPS],
  listMoreSteps: ({ outOfService }) => (outOfService === undefined ? [] : POWER_STEPS),
  outageSteps: OUTAGE_STEPS,
  beginOutage: loseLong,
};
