/**
 * Finds the pool where the VM of a Node is known to be, and judges a VM that appears in another pool. Pure.
 *
 * A pool that was restored or replicated holds VMs with the UUIDs of the original pool. While the original pool is
 * lost, Xen Orchestra shows the halted copy, although the machine of the Node may still run.
 * @module
 */
import type { Inventory } from "../../../cloud/inventory/inventory.ts";
import type { Instance } from "../../../cloud/instance.ts";
import { type Presence, toUnknown } from "../../../cloud/provider.ts";
import type { AbsenceQuestion } from "./absence.ts";
import type { ConnectionHistory } from "./connection_history.ts";
import type { Identity, IdentityByProviderId } from "../model/identity.ts";
import type { LastSeen } from "../../../cloud/inventory/last_seen.ts";
import type { Memory } from "../memory.ts";
import { NEVER_SHOWN } from "../scope/pools.ts";
import { findGap, toHalted, toUnproven } from "../model/presence.ts";

/** What Landfall remembers about pools. */
interface PoolMemory {
  readonly lastSeen: Pick<LastSeen, "findPlace">;
  readonly connections: Pick<ConnectionHistory, "isRemoved">;
}

/** An identity by which Landfall can find a VM. */
export type KnownIdentity = Exclude<Identity, { kind: "other" }>;

/**
 * Finds the last known pool of a Node's VM: where this process saw it, or after a start the pool in the Node's labels,
 * then in its provider ID. `undefined` for a Node that was never matched.
 */
export function findKnownPool(
  vmId: string,
  identity: KnownIdentity,
  lastSeen: Pick<LastSeen, "findPlace">,
): string | undefined {
  const seen = lastSeen.findPlace(vmId);
  if (seen !== undefined || identity.kind !== "providerId" || identity.vmId !== vmId) return seen;
  return identity.labelledPoolId ?? identity.poolId;
}

/**
 * Lists the pools that may hold a VM that is not shown: the pool in its provider ID, and where it was last seen. If the
 * provider ID names no pool, the list is empty: labels alone do not count, because any client can write them. A pool
 * that was removed for good does not count if the VM was last seen in another pool.
 */
export function listPools(
  { vmId, poolId, labelledPoolId, regionPoolId }: IdentityByProviderId,
  { lastSeen, connections }: PoolMemory,
): string[] {
  if (poolId === undefined) return [];
  const seenIn = lastSeen.findPlace(vmId);
  const isLeft = (id: string): boolean =>
    seenIn !== undefined && seenIn !== id && connections.isRemoved(id);
  const all = [poolId, seenIn, labelledPoolId, regionPoolId].filter((one) => one !== undefined);
  return [...new Set(all)].filter((id) => !isLeft(id));
}

/** Builds the question about a VM that is not shown. It does not allow lost pools. */
export function toQuestion(
  inventory: Inventory,
  identity: IdentityByProviderId,
  memory: Memory,
): AbsenceQuestion {
  const { vmId } = identity;
  const { lastSeen, migrations, removedPools, stays } = memory;
  return {
    vmId,
    poolIds: listPools(identity, memory),
    inventory,
    isMoving: migrations.isMoving(vmId, inventory.observedAtMs),
    isSeen: lastSeen.findPlace(vmId) !== undefined,
    removed: removedPools,
    stay: stays.find(vmId),
    sinceMs: stays.firstMs,
    findShownMs: (poolId) => stays.findShownMs(poolId),
    mayPartsBeLost: false,
  };
}

/** Whether a VM may be a copy: it is shown in another pool than the known one, and does not run there. */
export function mayBeCopy(
  { region, state }: Pick<Instance, "region" | "state">,
  knownPoolId: string | undefined,
): knownPoolId is string {
  return knownPoolId !== undefined && region !== knownPoolId && state !== "running";
}

/** Finds the known pool of a Node's VM, if the VM that is shown may be a copy. */
export function findSuspect(
  instance: Instance,
  identity: KnownIdentity,
  { lastSeen }: Pick<Memory, "lastSeen">,
): string | undefined {
  const knownPoolId = findKnownPool(instance.id, identity, lastSeen);
  return mayBeCopy(instance, knownPoolId) ? knownPoolId : undefined;
}

/**
 * Whether Landfall must not match a VM to a new Node: the VM is off, but the kubelet that registers the Node runs.
 * Either Xen Orchestra is behind, or the VM is a copy. A match can never be changed.
 */
function isHalted({ kind }: Identity, { state }: Pick<Instance, "state">): boolean {
  return kind === "systemUuid" && state === "stopped";
}

/**
 * Judges whether a VM that is shown is the Node's VM. It is, unless it may be a copy and the known pool of the Node's
 * VM is not shown. A VM that runs in another pool has moved.
 *
 * A Node that was never matched gets no halted VM. It also gets no VM by the byte-swapped UUID while the VM with the
 * reported UUID may be in a lost pool.
 */
export function judgeShown(
  presence: Presence & { kind: "present" },
  identity: KnownIdentity,
  { coverage, memory }: Pick<Inventory, "coverage"> & { memory: Pick<Memory, "lastSeen"> },
): Presence {
  const { instance, matchedBy } = presence;
  const { id, region = "unknown" } = instance;
  if (isHalted(identity, instance)) return toHalted(instance, coverage);
  const gap = matchedBy === "swappedSystemUuid" ? findGap(coverage) : undefined;
  if (gap !== undefined && identity.kind === "systemUuid") {
    return toUnproven(instance, identity.direct, gap);
  }
  const poolId = findSuspect(instance, identity, memory);
  if (poolId === undefined) return presence;
  const pool = coverage.get(poolId);
  if (pool?.complete) return presence;
  const { name = poolId, reason = NEVER_SHOWN } = pool ?? {};
  const shown = `VM ${id} is in pool ${region} but does not run`;
  const why = `it was last in pool ${name}, which is not shown in full: ${reason}`;
  const advice =
    "this VM may be a copy; if that pool was removed for good, start the VM or delete the Node";
  return toUnknown("notCovered", `${shown}; ${why}; ${advice}`);
}

/** Calls `visit` for each VM that is shown, may belong to a Node, and is not known to run. */
function visitIdle(
  identities: readonly Identity[],
  instances: Inventory["instances"],
  visit: (instance: Instance, identity: KnownIdentity) => void,
): void {
  for (const identity of identities) {
    if (identity.kind === "other") continue;
    const { kind } = identity;
    const vmIds = kind === "providerId" ? [identity.vmId] : [identity.direct, identity.swapped];
    for (const vmId of vmIds) {
      const instance = instances.get(vmId);
      // Most VMs run, and there may be thousands.
      if (instance !== undefined && instance.state !== "running") visit(instance, identity);
    }
  }
}

/** Lists VMs of Nodes that may be copies, each with the known pool of the Node's VM. */
export function listSuspects(
  identities: readonly Identity[],
  instances: Inventory["instances"],
  memory: Pick<Memory, "lastSeen">,
): Map<string, string> {
  const suspects = new Map<string, string>();
  visitIdle(identities, instances, (instance, identity) => {
    const poolId = findSuspect(instance, identity, memory);
    if (poolId !== undefined) suspects.set(instance.id, poolId);
  });
  return suspects;
}

/** Lists VMs that Landfall does not match to new Nodes, because they are off: they may be copies. */
export function listHalted(
  identities: readonly Identity[],
  instances: Inventory["instances"],
): string[] {
  const halted: string[] = [];
  visitIdle(identities, instances, (instance, identity) => {
    if (isHalted(identity, instance)) halted.push(instance.id);
  });
  return halted;
}
