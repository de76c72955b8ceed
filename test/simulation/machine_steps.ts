/**
 * What people and hypervisors do to virtual machines.
 * @module
 */
import type { Step } from "./steps.ts";
import type { World } from "./world.ts";

/** Deletes the machine of a Node, which then falls silent. */
const remove: Step = {
  name: "delete VM",
  weight: 2,
  act: (world) => {
    const name = pickLive(world);
    if (name === undefined) return undefined;
    world.cloud.state.removeVm(world.machines.get(name) ?? "");
    if (world.findNode(name)) world.setReady(name, false);
    return name;
  },
};

const power: Step = {
  name: "switch VM",
  weight: 3,
  act: (world) => {
    const name = pickLive(world);
    const vmId = world.machines.get(name ?? "");
    if (name === undefined || vmId === undefined) return undefined;
    const { state } = world.cloud;
    const isOff = world.truth.isRunning(vmId);
    if (isOff) state.setPower(vmId, "Halted");
    else state.setPower(vmId, "Running");
    if (world.findNode(name)) world.setReady(name, !isOff);
    return `${name} ${isOff ? "off" : "on"}`;
  },
};

const rename: Step = {
  name: "rename VM",
  weight: 2,
  act: (world) => {
    const name = pickLive(world);
    if (name === undefined) return undefined;
    const label = `${name}-${world.random.between(1, 9)}`;
    world.cloud.state.setVm(world.machines.get(name) ?? "", { name_label: label });
    return label;
  },
};

const migrate: Step = {
  name: "migrate VM",
  weight: 3,
  act: (world) => {
    const { random, cloud, truth } = world;
    const name = pickLive(world);
    const vmId = world.machines.get(name ?? "") ?? "";
    if (!truth.isRunning(vmId)) return undefined;
    const poolId = truth.find(vmId)?.["$pool"];
    const pool = cloud.pools.find(({ id }) => id === poolId);
    if (pool === undefined) return undefined;
    cloud.state.migrateLive(vmId, random.pick(pool.hostIds));
    return name;
  },
};

/** The name of a Node, joined or not, whose machine exists. */
function pickLive({ random, machines, truth }: World): string | undefined {
  const live = [...machines].filter(([, vmId]) => truth.find(vmId)).map(([name]) => name);
  return live.length === 0 ? undefined : random.pick(live);
}

export const MACHINE_STEPS: readonly Step[] = [remove, power, rename, migrate];
