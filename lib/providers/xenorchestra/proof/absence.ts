/**
 * Proof that a VM is gone.
 *
 * Xen Orchestra forgets every VM of a pool as soon as its connection to the pool fails, and answers
 * 404 for each, or 200 with an empty list, exactly as for deleted ones. So a 404 proves nothing until
 * the pool is proven to be loaded.
 * @module
 */
import type { Inventory } from "../../../cloud/inventory/inventory.ts";
import { toUnknown } from "../../../cloud/presence.ts";
import type { Presence, UnknownReason } from "../../../cloud/provider.ts";
import type { XenOrchestraApi } from "../wire/api.ts";
import { isWhole } from "./connection_history.ts";
import { judgeConnections, withoutLost } from "./connections.ts";
import type { RemovedPool } from "../memory.ts";
import { findNameless, type Host } from "../wire/schema.ts";
import { doubtStay, type Stay } from "./stays.ts";

/** Whose absence is to be proven. */
export interface AbsenceQuestion {
  readonly vmId: string;
  /** Pools that may hold the VM: the one in its provider ID, and where it was seen last if it moved. */
  readonly poolIds: readonly string[];
  /** The newest inventory. */
  readonly inventory: Inventory;
  /** Whether the VM was being migrated when it was shown last, not long before the inventory. */
  readonly isMoving: boolean;
  /** Whether this process ever saw the VM. If not, it may have moved before the start, to a pool lost since. */
  readonly isSeen: boolean;
  /** Pools that were removed for good, as far as anybody could see by now. */
  readonly removed: readonly RemovedPool[];
  /** The last stay of the VM in its pool, if this process saw it end. */
  readonly stay: Stay | undefined;
  /** When this process took its first inventory, in monotonic milliseconds. */
  readonly sinceMs: number;
  /** When a pool was last shown in full, in monotonic milliseconds; absent if this process never saw it so. */
  readonly findShownMs: (poolId: string) => number | undefined;
  /** Whether other pools may be lost, if the VM stayed in its own for long enough after that. */
  readonly mayPartsBeLost: boolean;
}

/** Why a VM that was being migrated is not missed. */
export const MOVING = "it was being migrated when it was shown last, and may be between two pools";

/** A pool whose connection was never seen may have been removed without a trace. */
const REMOVED_ADVICE =
  "if the pool was removed for good and is still named here 15 minutes later, restart Landfall";

const NEVER_SEEN = "it was not seen since Landfall started";

type Unknown = Presence & { kind: "unknown" };

/**
 * Proves that a VM is gone, or says what stands in the way. To be asked right after a 404 in JSON for the VM.
 *
 * In this order, all in one round:
 *
 * 1. each pool answers, and so does its master host
 * 2. its VM records are loaded: the master's dom0, or another VM of the pool, is visible
 * 3. nothing speaks for the VM being under another pool: the last list does not show it, no known pool
 *    is missing, every connection is up, and the VM records of every other pool are loaded, too: a VM that moved,
 *    unseen, may be in any. Where the connections cannot all be read, or another pool hides its VMs, this process must
 *    have seen the VM; and where a pool was removed, the VM must have stayed in its own for long after that
 * 4. it was not turned into a template, as far as the server knows templates: one never runs
 * 5. the VM is still 404 now that all this is known: the first 404 may be older than the pool's loading
 * 6. every pool still answers: the second 404 may be younger than the loss of a pool
 *
 * The settings may allow that other pools are lost: then the VM must have stayed in its own for long enough after that,
 * and they must still be lost in the end.
 *
 * Nothing is asked for a VM that was being migrated when it was shown last: neither pool may show it for a while, and
 * that looks as if it were gone. A migration that no list happened to show remains; there only time tells.
 *
 * @throws {CloudError} when there is no answer to one of the questions
 */
export async function proveAbsence(
  api: XenOrchestraApi,
  question: AbsenceQuestion,
  signal: AbortSignal,
): Promise<Presence> {
  const { vmId, poolIds, inventory, isMoving, isSeen, removed } = question;
  if (poolIds.length === 0) {
    return toDoubt("notCovered", vmId, "its provider ID names no pool to look at");
  }
  if (isMoving) return toDoubt("notCovered", vmId, MOVING);
  for (const poolId of poolIds) {
    const doubt = await doubtPool(api, { poolId, vmId }, signal);
    if (doubt) return doubt;
  }
  const elsewhere =
    doubtInventory(vmId, inventory) ??
    doubtLost(question) ??
    doubtRemoved(question) ??
    (await doubtConnections(api, question, signal));
  if (elsewhere) return elsewhere;
  const others = listOthers(question, true);
  const lost = listOthers(question, false);
  for (const poolId of others) {
    const doubt = await doubtPool(api, { poolId, vmId, mayHideVms: isSeen }, signal);
    if (doubt) return doubt;
  }
  const template = await api.readVmTemplate(vmId, signal);
  if (template.kind === "found" || template.kind === "undecodable") {
    return toDoubt("notListed", vmId, "there is a template with its ID");
  }
  const again = await api.readVm(vmId, signal);
  if (again.kind !== "missing") return toDoubt("notListed", vmId, "it showed up a moment later");
  for (const poolId of [...poolIds, ...others]) {
    const pool = await api.readPool(poolId, signal);
    if (pool.kind !== "found") return toDoubt("notCovered", vmId, describeLoss(poolId));
  }
  const names = new Map(removed.map(({ poolId, name }) => [poolId, name]));
  for (const poolId of [...names.keys(), ...lost]) {
    const pool = await api.readPool(poolId, signal);
    const name = names.get(poolId) ?? inventory.coverage.get(poolId)?.name ?? poolId;
    const why = `pool ${name}, which was not shown, is there again or still loads`;
    if (pool.kind !== "missing") return toDoubt("notCovered", vmId, why);
  }
  const pools = poolIds.join(" and ");
  const loaded = `pool ${pools}, its master host and its VM records answer`;
  const stayed =
    lost.length > 0
      ? `; pool ${lost.join(" and ")} is lost, and it stayed in its own after that`
      : "";
  return { kind: "absent", evidence: `no VM ${vmId} (404, asked twice), while ${loaded}${stayed}` };
}

/** Pools that were shown, and that nothing but a move that nobody saw would have brought the VM to. */
function listOthers({ poolIds, inventory }: AbsenceQuestion, isComplete: boolean): string[] {
  const all = [...inventory.coverage].filter(([id]) => !poolIds.includes(id));
  const wanted = all.filter(([, pool]) => pool.complete === isComplete && !pool.isOnlyNamed);
  return wanted.map(([id]) => id);
}

/** A pool that is to be proven loaded. */
interface PoolQuestion {
  readonly poolId: string;
  readonly vmId: string;
  /** Whether the pool may show none of its VMs to this user: nothing but a move that nobody saw leads there. */
  readonly mayHideVms?: boolean;
}

async function doubtPool(
  api: XenOrchestraApi,
  { poolId, vmId, mayHideVms = false }: PoolQuestion,
  signal: AbortSignal,
): Promise<Unknown | undefined> {
  const pool = await api.readPool(poolId, signal);
  if (pool.kind !== "found") return toDoubt("notCovered", vmId, describeLoss(poolId));
  const { master } = pool.value;
  const host = master ? await api.readHost(master, signal) : undefined;
  if (host?.kind !== "found" || host.value.$pool !== poolId) {
    return toDoubt("notCovered", vmId, `the master host of pool ${poolId} is not shown`);
  }
  return await doubtVms(api, { poolId, vmId, mayHideVms, host: host.value }, signal);
}

/** A pool can be shown without its VMs, when only reading these failed. */
async function doubtVms(
  api: XenOrchestraApi,
  { poolId, vmId, mayHideVms, host }: PoolQuestion & { readonly host: Host },
  signal: AbortSignal,
): Promise<Unknown | undefined> {
  const { controlDomain } = host;
  const dom0 = controlDomain ? await api.readVmController(controlDomain, signal) : undefined;
  if (dom0?.kind === "found") {
    if (dom0.value.$pool === poolId) return undefined;
    const why = `the dom0 of its pool's master host is said to be outside of pool ${poolId}`;
    return toDoubt("notCovered", vmId, why);
  }
  // Users whose rights end at their own pools see others without their VMs, for ever.
  if (dom0?.kind === "hidden" && mayHideVms) return undefined;
  const { objects } = await api.listSomeVmsOfPool(poolId, signal);
  if (objects.some((vm) => vm.$pool === poolId && vm.id !== vmId)) return undefined;
  const why = `pool ${poolId} shows no VM at all, so they may not be loaded`;
  const advice = dom0 === undefined ? undefined : DOM0_ADVICE[dom0.kind];
  return toDoubt("notCovered", vmId, advice === undefined ? why : `${why}; ${advice}`);
}

/** What to do where neither the dom0 nor another VM of a pool is shown. */
const DOM0_ADVICE: Readonly<Record<string, string>> = {
  hidden: "let the user see VM controllers or other VMs of the pool",
  noCollection:
    "this Xen Orchestra cannot show VM controllers: update it to 5.112 or newer, or keep another VM in the pool; " +
    "if the VM is gone, delete the Node",
};

function doubtInventory(vmId: string, inventory: Inventory): Unknown | undefined {
  if (inventory.instances.has(vmId) || inventory.undecodable.has(vmId)) {
    return toDoubt("notListed", vmId, "the last list still shows it");
  }
  const nameless = findNameless(inventory.undecodable);
  if (nameless !== undefined) {
    return toDoubt("undecodable", vmId, `the last list shows one that cannot be read: ${nameless}`);
  }
  return undefined;
}

/** The VM may have moved to a pool that is lost now. */
function doubtLost(question: AbsenceQuestion): Unknown | undefined {
  const { vmId, inventory, stay, findShownMs, mayPartsBeLost } = question;
  for (const id of listOthers(question, false)) {
    const { name = id, reason = "" } = inventory.coverage.get(id) ?? {};
    const where = `it may be in pool ${name}, of which too little is known: ${reason}`;
    const shownMs = findShownMs(id);
    // Never shown in full, and yet known: it is there, and something of it cannot be read.
    if (shownMs === undefined) return toDoubt("notCovered", vmId, `${where}; ${REMOVED_ADVICE}`);
    const doubt = doubtStay(stay, shownMs);
    if (mayPartsBeLost && doubt === undefined) continue;
    const why = mayPartsBeLost ? `${doubt}, so ${where}` : `${where}; ${REMOVED_ADVICE}`;
    return toDoubt("partLost", vmId, why);
  }
  return undefined;
}

/** The VM may have gone to a pool before that was removed, or while Xen Orchestra did not see the pool. */
function doubtRemoved({ vmId, removed, stay }: AbsenceQuestion): Unknown | undefined {
  for (const { name, goneMs } of removed) {
    const doubt = doubtStay(stay, goneMs);
    if (doubt === undefined) continue;
    const why = `${doubt}: it may be in pool ${name}, which was removed from Xen Orchestra`;
    return toDoubt("notCovered", vmId, `${why}; if the VM is gone, delete the Node`);
  }
  return undefined;
}

/**
 * After a start, only the connections tell which pools there are besides those that are shown. They also tell of a
 * pool that is shown as it was before its connection was lost.
 */
async function doubtConnections(
  api: XenOrchestraApi,
  question: AbsenceQuestion,
  signal: AbortSignal,
): Promise<Unknown | undefined> {
  const {
    vmId,
    inventory,
    isSeen,
    removed: [removed],
    stay,
    sinceMs,
  } = question;
  const servers = await api.listServers(signal);
  if (removed && !isWhole(servers, inventory.coverage)) {
    const why = `not every connection says which pool it leads to, so pool ${removed.name} may not be removed`;
    return toDoubt("notCovered", vmId, why);
  }
  const connections = judgeConnections(servers, inventory.coverage);
  if (connections.kind === "clear") return undefined;
  const { why, advice } = connections;
  if (connections.kind === "doubtful") {
    const isLost = judgeConnections(withoutLost(servers), inventory.coverage).kind === "clear";
    // It leads to a pool that the inventory lacks, too, or to one that nobody saw.
    const doubt = doubtStay(stay, sinceMs);
    if (isLost && question.mayPartsBeLost && doubt === undefined) return undefined;
    const where = `${why}; the VM may be in that pool; ${advice}`;
    const message =
      question.mayPartsBeLost && doubt !== undefined ? `${doubt}, and ${where}` : where;
    return toDoubt(isLost ? "partLost" : "notCovered", vmId, message);
  }
  if (isSeen) return undefined;
  return toDoubt("notCovered", vmId, `${NEVER_SEEN}, and ${why}; ${advice}, or delete the Node`);
}

function describeLoss(poolId: string): string {
  const why = "Xen Orchestra lost the connection to it, or still loads it";
  return `pool ${poolId} is not shown: ${why} (if it was removed for good, delete the Node)`;
}

function toDoubt(reason: UnknownReason, vmId: string, why: string): Unknown {
  return toUnknown(reason, `VM ${vmId} is not shown, but ${why}`);
}
