/**
 * Proof that a VM is gone.
 *
 * Xen Orchestra forgets every VM of a pool as soon as its connection to the pool fails, and answers
 * 404 for each, or 200 with an empty list, exactly as for deleted ones. So a 404 proves nothing until
 * the pool is proven to be loaded.
 * @module
 */
import { CloudError } from "../../cloud/errors.ts";
import type { Inventory } from "../../cloud/inventory.ts";
import type { Presence, UnknownReason } from "../../cloud/provider.ts";
import type { XenOrchestraApi } from "./api.ts";
import type { Host } from "./schema.ts";

/** Whose absence is to be proven. */
export interface AbsenceQuestion {
  readonly vmId: string;
  /** Pools that may hold the VM: the one in its provider ID, and where it was seen last if it moved. */
  readonly poolIds: readonly string[];
  /** The newest inventory. */
  readonly inventory: Inventory;
}

type Unknown = Presence & { kind: "unknown" };

/**
 * Proves that a VM is gone, or says what stands in the way. To be asked right after a 404 in JSON for the VM.
 *
 * In this order, all in one round:
 *
 * 1. each pool answers, and so does its master host
 * 2. its VM records are loaded: the master's dom0, or another VM of the pool, is visible
 * 3. nothing speaks for the VM being under another pool: the last list does not show it, no known pool
 *    is missing, every connection that may be seen is up
 * 4. the VM is still 404 now that all this is known: the first 404 may be older than the pool's loading
 *
 * @throws {CloudError} when there is no answer to one of the questions
 */
export async function proveAbsence(
  api: XenOrchestraApi,
  { vmId, poolIds, inventory }: AbsenceQuestion,
  signal: AbortSignal,
): Promise<Presence> {
  if (poolIds.length === 0) {
    return toUnknown("notCovered", vmId, "its provider ID names no pool to look at");
  }
  for (const poolId of poolIds) {
    const doubt = await doubtPool(api, { poolId, vmId }, signal);
    if (doubt) return doubt;
  }
  const elsewhere =
    doubtInventory(vmId, inventory) ?? (await doubtServers(api, vmId, inventory, signal));
  if (elsewhere) return elsewhere;
  const again = await api.readVm(vmId, signal);
  if (again.kind !== "missing") return toUnknown("notListed", vmId, "it showed up a moment later");
  const pools = poolIds.join(" and ");
  const loaded = `pool ${pools}, its master host and its VM records answer`;
  return { kind: "absent", evidence: `no VM ${vmId} (404, asked twice), while ${loaded}` };
}

async function doubtPool(
  api: XenOrchestraApi,
  { poolId, vmId }: { poolId: string; vmId: string },
  signal: AbortSignal,
): Promise<Unknown | undefined> {
  const pool = await api.readPool(poolId, signal);
  const lost = `pool ${poolId} is not shown: Xen Orchestra lost the connection to it, or still loads it`;
  if (pool.kind !== "found") return toUnknown("notCovered", vmId, lost);
  const { master } = pool.value;
  const host = master ? await api.readHost(master, signal) : undefined;
  if (host?.kind !== "found" || host.value.$pool !== poolId) {
    return toUnknown("notCovered", vmId, `the master host of pool ${poolId} is not shown`);
  }
  if (await areVmsLoaded(api, { poolId, vmId, host: host.value }, signal)) return undefined;
  return toUnknown(
    "notCovered",
    vmId,
    `pool ${poolId} shows no VM at all, so they may not be loaded`,
  );
}

/** A pool can be shown without its VMs, when only reading these failed. */
async function areVmsLoaded(
  api: XenOrchestraApi,
  { poolId, vmId, host }: { poolId: string; vmId: string; host: Host },
  signal: AbortSignal,
): Promise<boolean> {
  const { controlDomain } = host;
  if (controlDomain) {
    const dom0 = await api.readVmController(controlDomain, signal);
    if (dom0.kind === "found") return dom0.value.$pool === poolId;
  }
  const { objects } = await api.listSomeVmsOfPool(poolId, signal);
  return objects.some((vm) => vm.$pool === poolId && vm.id !== vmId);
}

/** The VM may have moved to a pool that is lost now. */
function doubtInventory(vmId: string, inventory: Inventory): Unknown | undefined {
  if (inventory.instances.has(vmId) || inventory.undecodable.has(vmId)) {
    return toUnknown("notListed", vmId, "the last list still shows it");
  }
  for (const [id, { complete, name = id, reason = "" }] of inventory.coverage) {
    if (complete) continue;
    const why = `it may be in pool ${name}, of which too little is known: ${reason}`;
    return toUnknown("notCovered", vmId, `${why} (if it was removed for good, restart Landfall)`);
  }
  return undefined;
}

/** After a start, only the connections tell which pools there are besides those that are shown. */
async function doubtServers(
  api: XenOrchestraApi,
  vmId: string,
  inventory: Inventory,
  signal: AbortSignal,
): Promise<Unknown | undefined> {
  const { objects } = await api.listServers(signal).catch((error: unknown) => {
    // Old servers do not have the list and restricted users may not see it: then the pools must do.
    const isRefused =
      error instanceof CloudError && (error.kind === "denied" || error.kind === "protocol");
    if (isRefused) return { objects: [] };
    throw error;
  });
  for (const { id, label, host, enabled, status, poolId } of objects) {
    if (enabled === false) continue;
    if (status === "connected" && poolId && inventory.coverage.get(poolId)?.complete) continue;
    const name = label || host || id;
    const problem = `the connection "${name}" is up (${status ?? "unknown"}) but its pool is not loaded`;
    const down = `the connection "${name}" is ${status ?? "in an unknown state"}`;
    const advice =
      "the VM may be in that pool; mend the connection, or disable it if the pool is gone";
    return toUnknown("notCovered", vmId, `${status === "connected" ? problem : down}; ${advice}`);
  }
  return undefined;
}

function toUnknown(reason: UnknownReason, vmId: string, why: string): Unknown {
  return { kind: "unknown", reason, message: `VM ${vmId} is not shown, but ${why}` };
}
