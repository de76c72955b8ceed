/**
 * What people and CloudStack do to virtual machines.
 * @module
 */
import type { VmState } from "../../../lib/simulator/cloudstack/mod.ts";
import { boot, fall, onMachine, REST, SICKEN, later, type Step } from "../steps/mod.ts";
import type { CloudStackWorld } from "./cloud.ts";
import { stumble } from "./cloud_steps.ts";
import { addNic } from "./places.ts";

const step = onMachine<CloudStackWorld>;

type MachineStep = Step<CloudStackWorld>;

/** Gone for good; its kubelet falls silent, sooner or later. Something may fail while its absence is counted. */
const remove: MachineStep = step("VM expunged", 2, (world, { name, vmId }) => {
  const { random, trace, cloud } = world;
  cloud.removeDoubles(vmId);
  const how = random.pick(["expunged", "expunged", "purged", "expunged slowly"] as const);
  if (how === "expunged") cloud.state.expunge(vmId);
  else if (how === "purged") cloud.state.purge(vmId);
  else {
    cloud.state.setState(vmId, "Expunging");
    later(world, random.between(0, 20_000), () => expunge(world, vmId));
  }
  fall(world, name);
  if (random.chance(0.4)) {
    later(world, random.between(3_000, 20_000), () => trace.note("STEP", stumble(world)));
  }
  return `${name} ${how}`;
});

/** Its record stays for a while, and only some users see it. It may be recovered. */
const destroy = step("VM destroyed", 1, (world, { name, vmId }) => {
  const { random, cloud } = world;
  cloud.removeDoubles(vmId);
  cloud.state.setState(vmId, "Destroyed");
  fall(world, name);
  const end = random.pick(["recovered", "expunged", "kept"] as const);
  const ms = random.between(5_000, 90_000);
  if (end === "expunged") {
    later(world, ms, () => {
      if (cloud.truth.find(vmId)?.state === "Destroyed") expunge(world, vmId);
    });
  }
  if (end === "recovered") {
    later(world, ms, () => {
      const isStill = world.machines.get(name) === vmId;
      if (isStill && cloud.truth.find(vmId)?.state === "Destroyed")
        cloud.state.setState(vmId, "Stopped");
    });
  }
  return `${name}, ${end} after ${ms} ms`;
});

const halt = step("VM stopped", 2, (world, { name, vmId }) => {
  if (!world.truth.isRunning(vmId)) return undefined;
  const state = world.random.pick(["Stopped", "Stopped", "Shutdown"] as const);
  pass(world, vmId, ["Stopping", state]);
  fall(world, name);
  return `${name} ${state}`;
});

const hide = step("VM hidden by an administrator", 2, (world, { name, vmId }) => {
  const { random, cloud } = world;
  const ms = random.between(1_000, 90_000);
  cloud.state.hide(vmId);
  if (random.chance(0.3) && world.findNode(name)) world.setReady(name, false);
  later(world, ms, () => {
    if (cloud.state.vms.has(vmId)) cloud.state.hide(vmId, false);
  });
  return `${name} for ${ms} ms`;
});

/** What happens while nobody answers for long. */
export const OUTAGE_STEPS: readonly MachineStep[] = [remove, destroy, hide, SICKEN, REST];

/** Everything that may happen to a machine. */
export const MACHINE_STEPS: readonly MachineStep[] = [
  remove,
  destroy,
  halt,
  // Stopped, and started again soon: what was true of it when it was asked for may be over.
  step("VM stopped for a moment", 2, (world, { name, vmId }) => {
    const { random, cloud, truth } = world;
    if (truth.find(vmId)?.state !== "Running") return undefined;
    cloud.state.setState(vmId, "Stopped");
    if (world.findNode(name)) world.setReady(name, false);
    const ms = random.between(1_000, 40_000);
    later(world, ms, () => {
      if (truth.find(vmId)?.state !== "Stopped") return;
      cloud.state.setState(vmId, "Running");
      boot(world, { name, vmId });
    });
    return `${name} for ${ms} ms`;
  }),
  step("VM started", 4, (world, machine) => {
    const { vmId, name } = machine;
    if (!["Stopped", "Shutdown"].includes(world.truth.find(vmId)?.state ?? "")) return undefined;
    pass(world, vmId, ["Starting", "Running"], () => {
      later(world, world.random.between(0, 20_000), () => {
        if (world.truth.isRunning(vmId)) boot(world, machine);
      });
    });
    return name;
  }),
  step("VM migrated", 3, (world, { name, vmId }) => {
    const vm = world.truth.find(vmId);
    if (vm?.state !== "Running") return undefined;
    vm.hostName = `kvm-${world.random.between(1, 4)}`;
    pass(world, vmId, ["Migrating", "Running"]);
    return name;
  }),
  // Its host does not answer, so nobody knows.
  step("VM in a state that says nothing", 2, (world, { name, vmId }) => {
    const { random, truth, cloud } = world;
    const before = truth.find(vmId)?.state;
    if (before !== "Running" && before !== "Stopped") return undefined;
    const state = random.pick(["Unknown", "Error"] as const);
    cloud.state.setState(vmId, state);
    if (random.chance(0.5)) fall(world, name);
    later(world, random.between(1_000, 90_000), () => {
      if (truth.find(vmId)?.state === state) cloud.state.setState(vmId, before);
      if (truth.isRunning(vmId)) boot(world, { name, vmId });
    });
    return `${name} ${state}`;
  }),
  // To another account, or into a project or out of one: only what is stopped can be.
  step("VM assigned", 3, (world, { name, vmId }) => {
    const { random, truth, cloud } = world;
    if (truth.find(vmId)?.state !== "Stopped") return undefined;
    const { accountId, projectAccountId, strangerId, ownerId } = cloud.places;
    const to = random.pick([accountId, projectAccountId, strangerId, strangerId]);
    cloud.removeDoubles(vmId);
    cloud.state.assign(vmId, to);
    if (random.chance(0.5)) {
      later(world, random.between(5_000, 60_000), () => {
        const isStill = world.machines.get(name) === vmId;
        if (isStill && cloud.state.vms.has(vmId)) cloud.state.assign(vmId, ownerId);
      });
    }
    return `${name} to ${to}`;
  }),
  hide,
  step("VM renamed", 2, (world, { name, vmId }) => {
    const vm = world.truth.find(vmId);
    if (vm === undefined) return undefined;
    const label = `${name}-${world.random.between(1, 9)}`;
    vm.displayName = label;
    if (world.random.chance(0.3)) vm.name = label;
    return label;
  }),
  // Another one gets the name of a Node's: no Node can be given either while both are there.
  step("another VM of the same name", 1, (world, { name, vmId }) => {
    const { random, cloud, truth } = world;
    if (!truth.isRunning(vmId) || truth.find(vmId)?.name !== name) return undefined;
    const id = cloud.addOther(name);
    const ms = random.between(5_000, 60_000);
    later(world, ms, () => expunge(world, id));
    return `${name} for ${ms} ms`;
  }),
  step("VM resized", 1, (world, { name, vmId }) => {
    const { random, truth, cloud } = world;
    const vm = truth.find(vmId);
    if (vm === undefined) return undefined;
    vm.offeringId = random.pick([...cloud.state.offerings.keys()]);
    return `${name} to ${vm.offeringId}`;
  }),
  step("interfaces changed", 2, (world, { name, vmId }) => {
    const { random, truth, cloud } = world;
    const vm = truth.find(vmId);
    const first = vm?.nics.find(({ isDefault }) => isDefault);
    if (vm === undefined || first === undefined) return undefined;
    const last = random.between(1, 250);
    const how = random.pick(["address", "more", "fewer", "order"] as const);
    if (how === "address") first.ipAddress = `10.3.0.${last}`;
    if (how === "more")
      addNic(cloud.state, vm, { ipAddress: `172.17.0.${last}`, isDefault: false });
    if (how === "fewer") vm.nics = vm.nics.filter(({ isDefault }) => isDefault);
    if (how === "order") vm.nics.reverse();
    return `${name} ${how}`;
  }),
];

/** From one state by way of another, unless something else comes between. */
function pass(
  world: CloudStackWorld,
  vmId: string,
  [by, to]: readonly [VmState, VmState],
  then: () => void = () => undefined,
): void {
  const { state } = world.cloud;
  state.setState(vmId, by);
  later(world, world.random.between(0, 15_000), () => {
    if (world.truth.find(vmId)?.state !== by) return;
    state.setState(vmId, to);
    then();
  });
}

function expunge({ cloud }: CloudStackWorld, vmId: string): void {
  if (cloud.state.vms.has(vmId)) cloud.state.expunge(vmId);
}
