/**
 * What people and hypervisors do to virtual machines.
 * @module
 */
import { stumble } from "./cloud_steps.ts";
import { boot, fall, onMachine, later, type Step } from "../steps/mod.ts";
import type { XenOrchestraWorld } from "./cloud.ts";

const step = onMachine<XenOrchestraWorld>;

const GIB = 2 ** 30;
/** The longest time for which a machine shows as being migrated. */
const MIGRATION_MS_MAX = 60_000;

/** Deleted for good; its kubelet falls silent, sooner or later. Something may fail while its absence is counted. */
export const remove: Step<XenOrchestraWorld> = step("VM deleted", 2, (world, { name, vmId }) => {
  const { random, trace, cloud } = world;
  cloud.state.removeVm(vmId);
  fall(world, name);
  if (random.chance(0.4)) {
    later(world, random.between(3_000, 20_000), () => trace.note("STEP", stumble(world)));
  }
  return name;
});

const halt = step("VM halted", 2, (world, { name, vmId }) => {
  const power = world.random.pick(["Halted", "Halted", "Suspended"] as const);
  world.cloud.state.setPower(vmId, power);
  fall(world, name);
  return `${name} ${power}`;
});

/** By `xe`, unseen by Xen Orchestra: no list ever shows it on its way, and it may go to a pool that is lost. */
export const smuggle: Step<XenOrchestraWorld> = step(
  "VM moves unseen",
  1,
  (world, { name, vmId }) => {
    const { random, cloud, truth } = world;
    const operations = truth.find(vmId)?.["current_operations"] ?? {};
    if (!truth.isRunning(vmId) || Object.keys(operations).length > 0) return undefined;
    const pool = random.pick(cloud.pools);
    world.invariants.proofs.fleet.noteMove(vmId);
    cloud.state.migratePool(vmId, pool.id, { hostId: random.pick(pool.hostIds) });
    // The network of the other pool may not reach the API server.
    if (random.chance(0.5) && world.findNode(name)) world.setReady(name, false);
    return `${name} to ${pool.id}`;
  },
);

/** Halted, and started again soon: what was true of it when it was asked for may be over. */
const blink = step("VM halted for a moment", 8, (world, { name, vmId }) => {
  const { random, cloud, truth } = world;
  const hostId = String(truth.find(vmId)?.["$container"]);
  const pool = cloud.pools.find(({ id }) => id === truth.find(vmId)?.["$pool"]);
  if (!truth.isRunning(vmId) || pool === undefined) return undefined;
  cloud.state.setPower(vmId, "Halted");
  if (world.findNode(name)) world.setReady(name, false);
  const ms = random.between(1_000, 40_000);
  later(world, ms, () => {
    if (truth.find(vmId)?.["power_state"] !== "Halted") return;
    cloud.state.setPower(vmId, "Running", hostId);
    later(world, random.between(0, 20_000), () => {
      if (truth.isRunning(vmId)) boot(world, { name, vmId });
    });
  });
  return `${name} for ${ms} ms`;
});

/** Restored from a backup or replicated: Xen Orchestra shows the copy for a while, which never ran. */
const copy = step("VM copied to another pool", 6, (world, { name, vmId }) => {
  const { random, cloud, truth } = world;
  const operations = truth.find(vmId)?.["current_operations"] ?? {};
  const pools = cloud.pools.filter(({ id }) => !truth.wasIn(vmId, id));
  if (!truth.isRunning(vmId) || Object.keys(operations).length > 0 || pools.length === 0)
    return undefined;
  const { id } = random.pick(pools);
  cloud.state.addCopy(vmId, id);
  // Whatever made people restore it may keep its kubelet from the API server.
  if (world.findNode(name)) world.setReady(name, false);
  const ms = random.between(10_000, 60_000);
  later(world, ms, () => cloud.state.removeCopy(vmId));
  return `${name} to ${id} for ${ms} ms`;
});

/** The last word of its kubelet stands until the node monitor of Kubernetes misses it: 40 s as a rule. */
const sicken = step("VM halted that is not ready", 6, (world, { name, vmId }) => {
  const { random, cloud, truth } = world;
  const uid = world.findNode(name)?.metadata.uid;
  if (!truth.isRunning(vmId) || uid === undefined) return undefined;
  world.report(name, "False");
  cloud.state.setPower(vmId, "Halted");
  const ms = random.between(30_000, 50_000);
  later(world, ms, () => {
    const isSame = world.findNode(name)?.metadata.uid === uid;
    if (isSame && !world.isRunning(name)) world.setReady(name, false);
  });
  return `${name}, missed after ${ms} ms`;
});

/** What happens, or happens more often, where Nodes are taken out of service. */
export const POWER_STEPS: readonly Step<XenOrchestraWorld>[] = [
  blink,
  { ...halt, weight: 4 },
  copy,
  sicken,
];

/** Everything that may happen to a machine. */
export const MACHINE_STEPS: readonly Step<XenOrchestraWorld>[] = [
  remove,
  halt,
  step("VM started", 4, (world, { name, vmId }) => {
    if (world.truth.isRunning(vmId)) return undefined;
    const { state } = world.cloud;
    const pool = world.cloud.pools.find(({ id }) => id === world.truth.find(vmId)?.["$pool"]);
    if (pool === undefined) return undefined;
    state.setPower(vmId, "Running", world.random.pick(pool.hostIds));
    // The guest tools report once the guest is up.
    later(world, world.random.between(0, 20_000), () => {
      if (!world.truth.isRunning(vmId)) return;
      world.cloud.giveAddress(vmId);
      boot(world, { name, vmId });
    });
    return name;
  }),
  step("VM renamed", 2, (world, { name, vmId }) => {
    const label = `${name}-${world.random.between(1, 9)}`;
    world.cloud.state.setVm(vmId, { name_label: label });
    return label;
  }),
  step("VM resized", 1, (world, { name, vmId }) => {
    const [cpus, gib] = [world.random.between(1, 8), world.random.between(2, 16)];
    const memory = { dynamic: [gib * GIB, gib * GIB], static: [GIB, gib * GIB], size: gib * GIB };
    world.cloud.state.setVm(vmId, { CPUs: { max: cpus, number: cpus }, memory });
    return `${name} to ${cpus} CPUs and ${gib} GiB`;
  }),
  step("VM migrated", 3, (world, { name, vmId }) => {
    const { random, cloud, truth } = world;
    const pool = cloud.pools.find(({ id }) => id === truth.find(vmId)?.["$pool"]);
    if (!truth.isRunning(vmId) || pool === undefined) return undefined;
    cloud.state.migrateLive(vmId, random.pick(pool.hostIds));
    return name;
  }),
  // To another pool, which may leave the machine in neither for a while. That no list happens to show it on its way is
  // what only time can tell from a deletion: so the gap is shorter than the hold-off (docs/explanation/deletion.md).
  step("VM moves to another pool", 3, (world, { name, vmId }) => {
    const { random, cloud, truth, settings } = world;
    const operations = truth.find(vmId)?.["current_operations"] ?? {};
    if (!truth.isRunning(vmId) || Object.keys(operations).length > 0) return undefined;
    const pool = random.pick(cloud.pools);
    const gapMs = random.chance(0.5) ? 0 : random.between(0, settings.deletion.holdOffMs * 0.9);
    const tookMs = random.between(0, MIGRATION_MS_MAX);
    cloud.state.beginMigration(vmId);
    world.invariants.proofs.fleet.noteMove(vmId);
    later(world, tookMs, () => {
      if (!truth.isRunning(vmId)) return;
      if (!cloud.pools.includes(pool)) return cloud.state.setVm(vmId, { current_operations: {} });
      cloud.state.migratePool(vmId, pool.id, { hostId: random.pick(pool.hostIds), gapMs });
    });
    return `${name} in ${tookMs} ms, with a gap of ${gapMs} ms`;
  }),
  smuggle,
  // It keeps its ID, is no machine any more, and may become one again.
  step("VM turned into a template", 0.5, (world, { name, vmId }) => {
    world.cloud.state.makeTemplate(vmId);
    fall(world, name);
    return name;
  }),
];
