/**
 * What clients of management controllers ask for.
 * @module
 */
import type { PowerAction } from "../../../../lib/cloud/capabilities/machine_power.ts";
import type { ApiObject } from "../../../../lib/simulator/kubernetes/mod.ts";
import { objectAt, stringAt } from "../../../../lib/simulator/kubernetes/patches/json.ts";
import { hasBmc } from "../../../../lib/simulator/metal3/host_state.ts";
import { onHost } from "../../steps/hosts.ts";
import { toVmId } from "../ironic.ts";
import { isReady } from "../judges/machines.ts";
import { readOverride, waitsForStart } from "../judges/override_judge.ts";
import type { VinoWorld } from "../world.ts";
import { type Step, toStep } from "../../steps/mod.ts";

const ACTIONS: readonly PowerAction[] = [
  "on",
  "off",
  "gracefulOff",
  "restart",
  "gracefulRestart",
  "cycle",
  "pause",
  "resume",
];
const STARTS = ["on", "restart", "cycle"] as const;
const DEVICES = ["network", "cd", "disk"] as const;
const PAUSE_MS = 20_000;

/** What they ask for. */
export const IRONIC_STEPS: readonly Step<VinoWorld>[] = [
  onBmc("resets", 5, ({ ironic, random }, host) => ironic.reset(host, random.pick(ACTIONS))),
  onBmc("boots once", 6, ({ ironic, random }, host) => {
    const then = { afterMs: random.between(0, PAUSE_MS), action: random.pick(STARTS) };
    const change = { device: random.pick(DEVICES), duration: "once" } as const;
    ironic.setBoot(host, change, random.chance(0.7) ? then : undefined);
  }),
  onBmc("boots always", 1, ({ ironic, random }, host) => {
    ironic.setBoot(host, { device: random.pick(DEVICES), duration: "always" });
  }),
  onBmc("boots as before", 1.5, ({ ironic }, host) => {
    ironic.setBoot(host, { duration: "never" });
  }),
  toStep("client resets any machine", 5, (world) => {
    const { cloud, hasBmcs, ironic, random, vinoes } = world;
    const ids = vinoes.flatMap((vino) => listMachineIds(world, vino));
    if (ids.length === 0 || !hasBmcs) return undefined;
    const isUnfinished = (id: string): boolean => {
      const vm = cloud.state.all("vms").get(id);
      return vm !== undefined && !isReady(vm);
    };
    const unfinished = ids.find(isUnfinished);
    const id = unfinished ?? random.pick(ids);
    ironic.resetAny(id, random.pick(unfinished === undefined ? ACTIONS : STARTS));
    return id;
  }),
];

/**
 * Starts what waits to boot from a device once, and ends what is to boot from one always. Landfall must do the rest.
 */
export function finishOverrides({ objects, hosts, ironic, cloud }: VinoWorld): void {
  for (const host of hosts.filter(hasBmc)) {
    const override = readOverride(objects, host);
    const vm = cloud.state.all("vms").get(toVmId(host));
    if (override === undefined || vm === undefined) continue;
    if (override.duration === "always") ironic.setBoot(host, { duration: "never" });
    else if (override.duration === "once" && waitsForStart(override, vm)) {
      ironic.reset(host, vm["power_state"] === "Halted" ? "on" : "cycle");
    }
  }
}

/** IDs that the VinoMachines of a Vino show, also of machines that are not complete. */
function listMachineIds(world: VinoWorld, vino: ApiObject): readonly string[] {
  const ids = world.listObjects(vino).map((one) => stringAt(objectAt(one, "status"), "machineId"));
  return ids.filter((id) => id !== "");
}

function onBmc(
  name: string,
  weight: number,
  act: (world: VinoWorld, host: ApiObject) => void,
): Step<VinoWorld> {
  return onHost(`of Ironic ${name}`, weight, hasBmc, act);
}
