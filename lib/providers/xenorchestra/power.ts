/**
 * Proves that the VM of a Node is powered off.
 *
 * After this proof, Kubernetes attaches the volumes of the VM to another machine, so every doubt counts. A VM that is
 * `Halted` may also be a copy in another pool, a remainder of a migration, or a VM that an administrator declared dead
 * with its host.
 * @module
 */
import type { PowerQuestion, PowerReading } from "../../cloud/capabilities/proven_off.ts";
import { CloudError } from "../../cloud/errors.ts";
import type { NodeIdentity } from "../../cloud/instance.ts";
import type { Inventory } from "../../cloud/inventory/inventory.ts";
import type { Presence } from "../../cloud/provider.ts";
import type { Clock } from "../../core/clock.ts";
import type { Vm, XenOrchestraApi } from "./client.ts";
import { judgeConnections } from "./pools.ts";
import { type IdentityByProviderId, parseIdentity } from "./identity.ts";
import { HOST_ID_LABEL } from "./labels.ts";
import type { Memory, Run } from "./memory.ts";

/** What the proof needs. */
interface PowerDeps {
  readonly api: XenOrchestraApi;
  readonly clock: Clock;
  readonly memory: Pick<Memory, "migrations" | "runs">;
  /** Finds the VM of a Node in an inventory. */
  readonly find: (inventory: Inventory, node: NodeIdentity) => Presence;
}

/** The only power state in which nothing is left of a VM except its disks. */
const OFF = "Halted";
const BY_HAND = "if you are sure that the VM is off, set the taint by hand";

/** The place where a VM ran, and where it must be off. */
interface Place extends Run {
  readonly vmId: string;
  /** Whether this process saw it running there. Otherwise only the Node says so. */
  readonly isSeen: boolean;
}

/** Implements `ProvenOff.isShownOff`. */
export function isShownOff(question: PowerQuestion, deps: PowerDeps): boolean {
  return typeof findPlace(question, deps) !== "string";
}

/** Implements `ProvenOff.readPower`. */
export async function readPower(
  question: PowerQuestion,
  deps: PowerDeps,
  signal: AbortSignal,
): Promise<PowerReading> {
  const place = findPlace(question, deps);
  if (typeof place === "string") return { kind: "unproven", message: place };
  try {
    return await prove(deps.api, { ...place, inventory: question.inventory }, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof CloudError) return { kind: "unproven", message: error.message };
    throw error;
  }
}

/**
 * Finds the place where the VM of a Node is shown as off. A text says why it is not off, or why that does not count.
 */
function findPlace(
  { inventory, node, labels }: PowerQuestion,
  { find, memory, clock }: Omit<PowerDeps, "api">,
): Place | string {
  const identity = parseIdentity(node);
  if (identity.kind !== "providerId") return "its provider ID names no VM";
  const { vmId } = identity;
  if (identity.reported) return `the kubelet does not report the system UUID of VM ${vmId}`;
  const presence = find(inventory, node);
  if (presence.kind !== "present") return `Landfall cannot identify VM ${vmId} with certainty`;
  const { region, details } = presence.instance;
  const state = details["powerState"] ?? "in an unknown state";
  if (state !== OFF) return `VM ${vmId} is ${state}`;
  const seen = memory.runs.find(vmId);
  const run = seen ?? toLabelledRun(identity, labels);
  if (run === undefined) return `Landfall does not know where VM ${vmId} ran; ${BY_HAND}`;
  if (region !== run.poolId) {
    return `VM ${vmId} is shown as ${OFF} in pool ${region}, but it ran in pool ${run.poolId}: it may be a copy`;
  }
  if (memory.migrations.wasMigrated(vmId, clock.monotonic())) {
    return `VM ${vmId} was migrating less than ten minutes ago`;
  }
  const poolIds = [run.poolId, ...(identity.poolId === undefined ? [] : [identity.poolId])];
  return findUncovered(inventory, poolIds) ?? { ...run, vmId, isSeen: seen !== undefined };
}

/** Reads the VM last, so that the write follows that read at once. */
async function prove(
  api: XenOrchestraApi,
  { vmId, poolId, hostId, isSeen, inventory }: Place & { readonly inventory: Inventory },
  signal: AbortSignal,
): Promise<PowerReading> {
  const connections = judgeConnections(await api.listServers(signal), inventory.coverage);
  // Before the start, the VM may have moved to a pool that no list names.
  const isEnough = connections.kind === "clear" || (connections.kind === "unreadable" && isSeen);
  if (!isEnough) {
    return { kind: "unproven", message: `${connections.why}; ${connections.advice}` };
  }
  const pool = await api.read("pools", poolId, signal);
  if (pool.kind !== "found") return toUnproven(`Xen Orchestra does not show pool ${poolId}`);
  if (hostId === undefined)
    return toUnproven(`Landfall does not know on which host VM ${vmId} ran`);
  const host = await api.read("hosts", hostId, signal);
  if (host.kind !== "found" || host.value.$pool !== poolId) {
    return toUnproven(`host ${hostId}, where VM ${vmId} last ran, is gone`);
  }
  if (host.value.power_state !== "Running") {
    return toUnproven(`host ${hostId}, where VM ${vmId} last ran, does not answer its pool`);
  }
  const vm = await api.read("vms", vmId, signal);
  if (vm.kind !== "found")
    return toUnproven(`Xen Orchestra does not show VM ${vmId} in a direct read`);
  return judgeVm(vm.value, { poolId, hostId });
}

/** Judges a direct read of the VM. */
function judgeVm(
  { id, $pool, power_state, current_operations }: Vm,
  { poolId, hostId }: Pick<Place, "poolId" | "hostId">,
): PowerReading {
  if (power_state !== OFF) return { kind: "on" };
  if ($pool !== poolId) return toUnproven(`VM ${id} is in pool ${$pool} now`);
  if (!current_operations)
    return toUnproven(`Xen Orchestra does not say what it is doing with VM ${id}`);
  const [operation] = Object.values(current_operations);
  if (operation !== undefined)
    return toUnproven(`VM ${id} is about to change: ${String(operation)}`);
  const where = `pool ${poolId} and host ${hostId}, where it ran, answer`;
  return {
    kind: "off",
    evidence: `VM ${id} is ${OFF} and has no running operation, while ${where}`,
  };
}

function toUnproven(why: string): PowerReading {
  return { kind: "unproven", message: `${why}; ${BY_HAND}` };
}

/**
 * Returns the place where a VM ran by its Node, for use after a start. If provider ID and labels differ, neither
 * counts.
 */
function toLabelledRun(
  { poolId, labelledPoolId = poolId, regionPoolId = poolId }: IdentityByProviderId,
  labels: Readonly<Record<string, string>>,
): Run | undefined {
  const hostId = labels[HOST_ID_LABEL];
  if (poolId === undefined || hostId === undefined) return undefined;
  if (poolId !== labelledPoolId || poolId !== regionPoolId) return undefined;
  return { poolId, hostId };
}

/** Says why an inventory does not count: a pool that held the VM, or another pool, did not answer in full. */
function findUncovered({ coverage }: Inventory, poolIds: readonly string[]): string | undefined {
  const own = poolIds.find((id) => !coverage.get(id)?.complete);
  if (own !== undefined) return `pool ${own} is not shown in full`;
  for (const [id, { complete, isOnlyNamed, name = id }] of coverage) {
    if (!complete && !isOnlyNamed)
      return `pool ${name} is not shown in full, and the VM may be there`;
  }
  return undefined;
}
