/**
 * Proves that a VM is gone.
 *
 * Xen Orchestra forgets every VM of a pool as soon as its connection to the pool fails. It then answers 404 for each
 * VM, or 200 with an empty list, exactly as for deleted VMs. So a 404 proves nothing without proof that the pool is
 * loaded.
 * @module
 */
import type { Inventory } from "../../cloud/inventory/inventory.ts";
import { type Presence, toUnknown, type UnknownReason } from "../../cloud/provider.ts";
import { findNameless } from "../../cloud_http/decode.ts";
import type { Host, XenOrchestraApi } from "./client.ts";
import { isWhole, judgeConnections, type RemovedPool, withoutLost } from "./pools.ts";
import { explainPossibleMove, type Stay } from "./memory.ts";

/** The VM whose absence to prove, and what Landfall knows about it. */
export interface AbsenceQuestion {
  readonly vmId: string;
  /** Pools that may hold the VM: the pool in its provider ID, and the pool where it was last seen if it moved. */
  readonly poolIds: readonly string[];
  /** The newest inventory. */
  readonly inventory: Inventory;
  /** Whether the VM was migrating when Xen Orchestra last showed it, shortly before the inventory. */
  readonly isMoving: boolean;
  /**
   * Whether this process ever saw the VM. If not, the VM may have moved before the start, to a pool that is lost now.
   */
  readonly isSeen: boolean;
  /** Pools that were removed for good, as far as Landfall knows now. */
  readonly removed: readonly RemovedPool[];
  /** The last stay of the VM in its pool, if this process saw it end. */
  readonly stay: Stay | undefined;
  /** Time of the first inventory of this process, in monotonic milliseconds. */
  readonly sinceMs: number;
  /**
   * Finds the time when a pool was last shown in full, in monotonic milliseconds; `undefined` if this process never saw
   * that.
   */
  readonly findShownMs: (poolId: string) => number | undefined;
  /**
   * Whether the proof may succeed while other pools are lost, if the VM stayed in its own pool long enough after the
   * loss.
   */
  readonly mayPartsBeLost: boolean;
}

/** Reason why a VM that was migrating does not count as missing. */
export const MOVING = "it was migrating when it was last listed and may be between two pools";

/** Landfall cannot notice the removal of a pool if this process never saw its connection. */
const REMOVED_ADVICE =
  "if the pool was removed for good and this message still names it after 15 minutes, restart Landfall";

const NEVER_SEEN = "Landfall has not seen it since it started";

type Unknown = Presence & { kind: "unknown" };

/**
 * Proves that a VM is gone, or says why the proof fails. Call it right after a 404 in JSON for the VM.
 *
 * It checks in this order:
 *
 * 1. each pool answers, and so does its master host
 * 2. the pool's VM records are loaded: the master's dom0, or another VM of the pool, is visible
 * 3. the VM cannot be in another pool: the last list does not show it, no known pool is missing, every connection is
 *    up, and the VM records of every other pool are loaded, because the VM may have moved to any of them between two
 *    lists. If Landfall cannot read all connections, or another pool hides its VMs, this process must have seen the VM.
 *    If a pool was removed, the VM must have stayed in its own pool long enough after that
 * 4. the VM did not become a template, if the server has templates: a template never runs
 * 5. a second read of the VM is a 404, too: the first 404 may be from before the pool was loaded
 * 6. every pool still answers: the second 404 may be from after the loss of a pool
 *
 * The settings may allow lost pools. Then the VM must have stayed in its own pool long enough after the loss, and the
 * lost pools must still be lost at the end.
 *
 * If the VM was migrating when it was last listed, the proof fails at once: for a while neither pool may show it, which
 * looks as if it were gone. Only waiting helps against a migration that no list showed.
 *
 * @throws {CloudError} if there is no answer to one of the requests
 */
export async function proveAbsence(
  api: XenOrchestraApi,
  question: AbsenceQuestion,
  signal: AbortSignal,
): Promise<Presence> {
  const { vmId, poolIds, inventory, isMoving, isSeen, removed } = question;
  if (poolIds.length === 0) {
    return toUnproven("notCovered", vmId, "its provider ID names no pool to check");
  }
  if (isMoving) return toUnproven("notCovered", vmId, MOVING);
  for (const poolId of poolIds) {
    const obstacle = await checkPool(api, { poolId, vmId }, signal);
    if (obstacle) return obstacle;
  }
  const elsewhere =
    checkInventory(vmId, inventory) ??
    checkLost(question) ??
    checkRemoved(question) ??
    (await checkConnections(api, question, signal));
  if (elsewhere) return elsewhere;
  const others = listOthers(question, true);
  const lost = listOthers(question, false);
  for (const poolId of others) {
    const obstacle = await checkPool(api, { poolId, vmId, mayHideVms: isSeen }, signal);
    if (obstacle) return obstacle;
  }
  const template = await api.readVmTemplate(vmId, signal);
  if (template.kind === "found" || template.kind === "undecodable") {
    return toUnproven("notListed", vmId, "a template has its ID");
  }
  const again = await api.read("vms", vmId, signal);
  if (again.kind !== "missing")
    return toUnproven("notListed", vmId, "it appeared again a moment later");
  for (const poolId of [...poolIds, ...others]) {
    const pool = await api.read("pools", poolId, signal);
    if (pool.kind !== "found") return toUnproven("notCovered", vmId, describeLoss(poolId));
  }
  const names = new Map(removed.map(({ poolId, name }) => [poolId, name]));
  for (const poolId of [...names.keys(), ...lost]) {
    const pool = await api.read("pools", poolId, signal);
    const name = names.get(poolId) ?? inventory.coverage.get(poolId)?.name ?? poolId;
    const why = `pool ${name}, which was missing, is back or still loading`;
    if (pool.kind !== "missing") return toUnproven("notCovered", vmId, why);
  }
  const pools = poolIds.join(" and ");
  const loaded = `pool ${pools}, its master host and its VM records answer`;
  const stayed =
    lost.length > 0
      ? `; pool ${lost.join(" and ")} is lost, and the VM stayed in its own pool after that`
      : "";
  return { kind: "absent", evidence: `no VM ${vmId} (404 twice), while ${loaded}${stayed}` };
}

/** Lists the other pools that are shown in full, or those that are not. They hold the VM only if it moved unseen. */
function listOthers({ poolIds, inventory }: AbsenceQuestion, isComplete: boolean): string[] {
  const all = [...inventory.coverage].filter(([id]) => !poolIds.includes(id));
  const wanted = all.filter(([, pool]) => pool.complete === isComplete && !pool.isOnlyNamed);
  return wanted.map(([id]) => id);
}

/** A pool that must be loaded. */
interface PoolQuestion {
  readonly poolId: string;
  readonly vmId: string;
  /** Whether the pool may hide its VMs from this user, because the VM can be there only if it moved unseen. */
  readonly mayHideVms?: boolean;
}

async function checkPool(
  api: XenOrchestraApi,
  { poolId, vmId, mayHideVms = false }: PoolQuestion,
  signal: AbortSignal,
): Promise<Unknown | undefined> {
  const pool = await api.read("pools", poolId, signal);
  if (pool.kind !== "found") return toUnproven("notCovered", vmId, describeLoss(poolId));
  const { master } = pool.value;
  const host = master ? await api.read("hosts", master, signal) : undefined;
  if (host?.kind !== "found" || host.value.$pool !== poolId) {
    return toUnproven("notCovered", vmId, `the master host of pool ${poolId} is not shown`);
  }
  return await checkVms(api, { poolId, vmId, mayHideVms, host: host.value }, signal);
}

/** Checks that the VM records of a pool are loaded: Xen Orchestra may show a pool without its VMs. */
async function checkVms(
  api: XenOrchestraApi,
  { poolId, vmId, mayHideVms, host }: PoolQuestion & { readonly host: Host },
  signal: AbortSignal,
): Promise<Unknown | undefined> {
  const { controlDomain } = host;
  const dom0 = controlDomain ? await api.readVmController(controlDomain, signal) : undefined;
  if (dom0?.kind === "found") {
    if (dom0.value.$pool === poolId) return undefined;
    const why = `Xen Orchestra shows the dom0 of the master host of pool ${poolId} in another pool`;
    return toUnproven("notCovered", vmId, why);
  }
  // A user with rights on only some pools never sees the VMs of the others.
  if (dom0?.kind === "hidden" && mayHideVms) return undefined;
  const { objects } = await api.listSomeVmsOfPool(poolId, signal);
  if (objects.some((vm) => vm.$pool === poolId && vm.id !== vmId)) return undefined;
  const why = `pool ${poolId} lists no VM at all, so its VMs may not be loaded yet`;
  const advice = dom0 === undefined ? undefined : DOM0_ADVICE[dom0.kind];
  return toUnproven("notCovered", vmId, advice === undefined ? why : `${why}; ${advice}`);
}

/** What to do if Xen Orchestra shows neither the dom0 nor another VM of a pool. */
const DOM0_ADVICE: Readonly<Record<string, string>> = {
  hidden: "let the user see VM controllers or other VMs of the pool",
  noCollection:
    "this Xen Orchestra cannot show VM controllers: update it to 5.112 or newer, or keep another VM in the pool; " +
    "if the VM is gone, delete the Node",
};

function checkInventory(vmId: string, inventory: Inventory): Unknown | undefined {
  if (inventory.instances.has(vmId) || inventory.undecodable.has(vmId)) {
    return toUnproven("notListed", vmId, "the last list still shows it");
  }
  const nameless = findNameless(inventory.undecodable);
  if (nameless !== undefined) {
    return toUnproven(
      "undecodable",
      vmId,
      `the last list holds a VM that Landfall cannot read: ${nameless}`,
    );
  }
  return undefined;
}

/** Checks whether the VM may have moved to a pool that is lost now. */
function checkLost(question: AbsenceQuestion): Unknown | undefined {
  const { vmId, inventory, stay, findShownMs, mayPartsBeLost } = question;
  for (const id of listOthers(question, false)) {
    const { name = id, reason = "" } = inventory.coverage.get(id) ?? {};
    const where = `it may be in pool ${name}, which Landfall cannot check: ${reason}`;
    const shownMs = findShownMs(id);
    // The pool is known, but was never shown in full: it exists, and Landfall cannot read a part of it.
    if (shownMs === undefined) return toUnproven("notCovered", vmId, `${where}; ${REMOVED_ADVICE}`);
    const obstacle = explainPossibleMove(stay, shownMs);
    if (mayPartsBeLost && obstacle === undefined) continue;
    const why = mayPartsBeLost ? `${obstacle}, so ${where}` : `${where}; ${REMOVED_ADVICE}`;
    return toUnproven("partLost", vmId, why);
  }
  return undefined;
}

/** Checks whether the VM may have moved to a pool that was removed later, or that Xen Orchestra did not see. */
function checkRemoved({ vmId, removed, stay }: AbsenceQuestion): Unknown | undefined {
  for (const { name, goneMs } of removed) {
    const obstacle = explainPossibleMove(stay, goneMs);
    if (obstacle === undefined) continue;
    const why = `${obstacle}: it may be in pool ${name}, which was removed from Xen Orchestra`;
    return toUnproven("notCovered", vmId, `${why}; if the VM is gone, delete the Node`);
  }
  return undefined;
}

/**
 * Checks the list of connections. After a start, only this list names pools that are not shown. It also reveals a pool
 * that Xen Orchestra still shows although it lost the connection.
 */
async function checkConnections(
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
    const why = `some connections do not say which pool they lead to, so pool ${removed.name} may still exist`;
    return toUnproven("notCovered", vmId, why);
  }
  const connections = judgeConnections(servers, inventory.coverage);
  if (connections.kind === "clear") return undefined;
  const { why, advice } = connections;
  if (connections.kind === "doubtful") {
    const isLost = judgeConnections(withoutLost(servers), inventory.coverage).kind === "clear";
    // The connection may belong to a pool that the inventory lacks, or to one that this process never saw.
    const obstacle = explainPossibleMove(stay, sinceMs);
    if (isLost && question.mayPartsBeLost && obstacle === undefined) return undefined;
    const where = `${why}, and the VM may be in that pool; ${advice}`;
    const message =
      question.mayPartsBeLost && obstacle !== undefined ? `${obstacle}, and ${where}` : where;
    return toUnproven(isLost ? "partLost" : "notCovered", vmId, message);
  }
  if (isSeen) return undefined;
  return toUnproven("notCovered", vmId, `${NEVER_SEEN}, and ${why}; ${advice}, or delete the Node`);
}

function describeLoss(poolId: string): string {
  const why = `pool ${poolId} is disconnected, still loading, or not visible to this user`;
  return `${why}. If the pool was removed for good, delete the Node`;
}

function toUnproven(reason: UnknownReason, vmId: string, why: string): Unknown {
  return toUnknown(reason, `Cannot prove that VM ${vmId} is gone: ${why}`);
}
