/**
 * Finds the VM of a Node, in an inventory or by direct reads.
 * @module
 */
import type { Instance } from "../../cloud/instance.ts";
import type { Inventory } from "../../cloud/inventory/inventory.ts";
import {
  type MatchedBy,
  type Presence,
  toUnknown,
  type UnknownReason,
} from "../../cloud/provider.ts";
import { findNameless } from "../../cloud_http/decode.ts";
import { type AbsenceQuestion, MOVING, proveAbsence } from "./absence.ts";
import { byVms, type XenOrchestraApi } from "./client.ts";
import type { Identity, IdentityByProviderId } from "./identity.ts";
import { type Surroundings, toInstance, toLost, withDevices } from "./inventory.ts";
import type { InstanceSettings } from "./settings.ts";
import type { Memory } from "./memory.ts";
import { NEVER_SHOWN } from "./pools.ts";

/** What {@linkcode VmFinder} needs. */
interface VmFinderOptions {
  readonly api: XenOrchestraApi;
  readonly settings: InstanceSettings;
  readonly memory: Memory;
}

/** The newest inventory, and the surroundings of its VMs. */
interface Known {
  readonly inventory: Inventory;
  readonly surroundings: Surroundings;
  readonly mayPartsBeLost: boolean;
}

/** An identity by which Landfall can find a VM. */
type KnownIdentity = Exclude<Identity, { kind: "other" }>;

type Present = Presence & { readonly kind: "present" };

/** Finds the VM of a Node, whether or not the Node is ours. */
export class VmFinder {
  readonly #options: VmFinderOptions;

  constructor(options: VmFinderOptions) {
    this.#options = options;
  }

  /** Finds the VM in an inventory. */
  find(inventory: Inventory, identity: KnownIdentity): Presence {
    const { memory } = this.#options;
    const { instances, undecodable, coverage } = inventory;
    const judge = (instance: Instance, matchedBy: MatchedBy): Presence =>
      judgeShown({ kind: "present", instance, matchedBy }, identity, { coverage, memory });
    const id = identity.kind === "providerId" ? identity.vmId : identity.direct;
    const listed = instances.get(id);
    if (listed) return judge(listed, identity.kind);
    const problem = undecodable.get(id);
    if (problem !== undefined) return toUndecodable(id, problem);
    if (identity.kind === "providerId")
      return judgeUnlisted(toQuestion(inventory, identity, memory));
    const swapped = instances.get(identity.swapped);
    if (swapped && memory.isNoVm(id)) return judge(swapped, "swappedSystemUuid");
    const message = swapped
      ? `Xen Orchestra lists no VM ${id}, but VM ${identity.swapped}, which is the same UUID in the byte order ` +
        "of UEFI guests; Landfall is checking it"
      : `Xen Orchestra lists no VM with the system UUID ${id}`;
    return toUnknown("notListed", message);
  }

  /**
   * Asks Xen Orchestra for the VM: finds it, proves that it is gone, or says why it can do neither.
   *
   * @throws {CloudError} if there is no usable answer
   */
  read(identity: KnownIdentity, known: Known, signal: AbortSignal): Promise<Presence> {
    return identity.kind === "providerId"
      ? this.#readByProviderId(identity, known, signal)
      : this.#readBySystemUuid(identity, known, signal);
  }

  async #readByProviderId(
    identity: IdentityByProviderId,
    known: Known,
    signal: AbortSignal,
  ): Promise<Presence> {
    const { api, memory } = this.#options;
    const { vmId } = identity;
    const read = await this.#readVm(vmId, { ...known, matchedBy: "providerId" }, signal);
    if (read !== "missing") {
      const judged = await this.#judge(read, identity, { known, signal });
      const region = judged.kind === "present" ? judged.instance.region : undefined;
      if (region !== undefined) memory.noteRead(vmId, region);
      return judged;
    }
    for (const other of identity.reported ?? []) {
      const reported = await this.#readVm(other, { ...known, matchedBy: "systemUuid" }, signal);
      if (reported !== "missing") return toContradiction(vmId, other);
    }
    const { inventory, mayPartsBeLost } = known;
    const question = { ...toQuestion(inventory, identity, memory), mayPartsBeLost };
    return await proveAbsence(api, question, signal);
  }

  async #readBySystemUuid(
    identity: Identity & { kind: "systemUuid" },
    known: Known,
    signal: AbortSignal,
  ): Promise<Presence> {
    const { memory } = this.#options;
    const { direct, swapped } = identity;
    const read = await this.#readVm(direct, { ...known, matchedBy: "systemUuid" }, signal);
    // Xen Orchestra hides the VMs of a lost pool, so a 404 proves nothing.
    const isNoVm = read === "missing" && findGap(known.inventory.coverage) === undefined;
    memory.rememberNoVm(direct, isNoVm);
    if (read !== "missing") return await this.#judge(read, identity, { known, signal });
    const matchedBy = "swappedSystemUuid";
    const listed = known.inventory.instances.get(swapped);
    const second: Presence | "missing" = listed
      ? { kind: "present", instance: listed, matchedBy }
      : await this.#readVm(swapped, { ...known, matchedBy }, signal);
    if (second === "missing") return toNotFound(known.inventory, direct, swapped);
    return await this.#judge(second, identity, { known, signal });
  }

  async #readVm(
    id: string,
    { surroundings, matchedBy }: { surroundings: Surroundings; matchedBy: MatchedBy },
    signal: AbortSignal,
  ): Promise<Presence | "missing"> {
    const { api, settings } = this.#options;
    const reply = await api.read("vms", id, signal);
    if (reply.kind === "missing") return "missing";
    if (reply.kind === "undecodable") return toUndecodable(id, reply.problem);
    const vifs = surroundings.networkIds && (await api.list("vifs", signal, byVms([id])));
    const instance = toInstance(reply.value, withDevices(surroundings, vifs), settings);
    return { kind: "present", instance, matchedBy };
  }

  /** Judges a VM that is shown. Its known pool may have been lost since the inventory. */
  async #judge(
    presence: Presence,
    identity: KnownIdentity,
    { known, signal }: { readonly known: Known; readonly signal: AbortSignal },
  ): Promise<Presence> {
    const { api, memory } = this.#options;
    if (presence.kind !== "present") return presence;
    const poolId = findSuspect(presence.instance, identity, memory);
    const poolIds = new Set(poolId === undefined ? [] : [poolId]);
    const { coverage } = await withLosses(api, { inventory: known.inventory, poolIds }, signal);
    return judgeShown(presence, identity, { coverage, memory });
  }
}

/**
 * Returns an inventory that marks those of these pools that were lost during the inventory or after it. Asks once for
 * each pool that the inventory covers.
 *
 * @throws {CloudError} if there is no answer
 */
export async function withLosses(
  api: Pick<XenOrchestraApi, "read">,
  { inventory, poolIds }: { readonly inventory: Inventory; readonly poolIds: ReadonlySet<string> },
  signal: AbortSignal,
): Promise<Inventory> {
  const losses = new Map<string, ReturnType<typeof toLost>>();
  for (const poolId of poolIds) {
    const before = inventory.coverage.get(poolId);
    if (!before?.complete) continue;
    const pool = await api.read("pools", poolId, signal);
    if (pool.kind !== "found") losses.set(poolId, toLost(before));
  }
  if (losses.size === 0) return inventory;
  return { ...inventory, coverage: new Map([...inventory.coverage, ...losses]) };
}

const REMOVED = "the pool was removed from Xen Orchestra";

/**
 * Says why the VM of a provider ID is not in an inventory. The result is `notListed`, one observation of absence, only
 * if the request included the VM, every pool that may hold it answered in full, and it is not migrating.
 */
function judgeUnlisted(question: AbsenceQuestion): Presence {
  const { vmId, poolIds, inventory, isMoving, removed } = question;
  const { coverage, lookedFor, undecodable } = inventory;
  const say = (reason: UnknownReason, why: string): Presence =>
    toUnknown(reason, `Cannot find VM ${vmId}: ${why}`);
  if (lookedFor?.has(vmId) === false) {
    return say("noInventory", "the last list did not include it; Landfall asks again");
  }
  if (poolIds.length === 0) {
    const advice = "if the VM is gone, delete the Node";
    return say("notCovered", `its provider ID names no pool to check; ${advice}`);
  }
  for (const poolId of poolIds) {
    const pool = coverage.get(poolId);
    if (pool?.complete) continue;
    const gone = removed.find((one) => one.poolId === poolId);
    const { name = poolId, reason = NEVER_SHOWN } =
      gone === undefined ? (pool ?? {}) : { name: gone.name, reason: REMOVED };
    // If no pool is shown, the user most likely has no right to see pools.
    const isOneShown =
      gone !== undefined || [...coverage.values()].some(({ complete }) => complete);
    const keep = gone ? "if the VM is gone" : "if the pool was removed for good";
    const advice = isOneShown ? `${keep}, delete the Node` : NO_POOL_ADVICE;
    return toUnknown("notCovered", `Cannot check VM ${vmId} in pool ${name}: ${reason}; ${advice}`);
  }
  if (isMoving) return say("notCovered", MOVING);
  const nameless = findNameless(undecodable);
  if (nameless)
    return say("undecodable", `the list holds a VM that Landfall cannot read: ${nameless}`);
  return say(
    "notListed",
    "Xen Orchestra does not list it, which alone does not prove that it is gone",
  );
}

/**
 * Lists the pools that may hold a VM that is not shown: the pool in its provider ID, and where it was last seen. If the
 * provider ID names no pool, the list is empty: labels alone do not count, because any client can write them. A pool
 * that was removed for good does not count if the VM was last seen in another pool.
 */
function listPools(
  { poolId, labelledPoolId, regionPoolId }: IdentityByProviderId,
  seenIn: string | undefined,
  { pools }: Memory,
): string[] {
  if (poolId === undefined) return [];
  const isLeft = (id: string): boolean =>
    seenIn !== undefined && seenIn !== id && pools.isRemoved(id);
  const all = [poolId, seenIn, labelledPoolId, regionPoolId].filter((one) => one !== undefined);
  return [...new Set(all)].filter((id) => !isLeft(id));
}

/** Builds the question about a VM that is not shown. It does not allow lost pools. */
function toQuestion(
  inventory: Inventory,
  identity: IdentityByProviderId,
  memory: Memory,
): AbsenceQuestion {
  const { vmId } = identity;
  const { lastSeen, migrations, pools, stays } = memory;
  const seenIn = lastSeen.findPlace(vmId);
  return {
    vmId,
    poolIds: listPools(identity, seenIn, memory),
    inventory,
    isMoving: migrations.isMoving(vmId, inventory.observedAtMs),
    isSeen: seenIn !== undefined,
    removed: pools.removed,
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

/**
 * Finds the last known pool of a Node's VM, if the VM that is shown may be a copy: where this process saw it, or after
 * a start the pool in the Node's labels, then in its provider ID. `undefined` for a Node that was never matched.
 */
function findSuspect(
  instance: Instance,
  identity: KnownIdentity,
  { lastSeen }: Memory,
): string | undefined {
  const { labelledPoolId, poolId }: Partial<IdentityByProviderId> =
    identity.kind === "providerId" ? identity : {};
  const knownPoolId = lastSeen.findPlace(instance.id) ?? labelledPoolId ?? poolId;
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
function judgeShown(
  presence: Present,
  identity: KnownIdentity,
  { coverage, memory }: Pick<Inventory, "coverage"> & { readonly memory: Memory },
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

/** The VMs in an inventory that may not be the Nodes' own. */
interface DoubtfulVms {
  /** VMs of Nodes that may be copies, each with the known pool of the Node's VM. */
  readonly suspects: ReadonlyMap<string, string>;
  /** VMs that Landfall does not match to new Nodes, because they are off: they may be copies. */
  readonly halted: ReadonlySet<string>;
}

/** Lists the doubtful VMs among those that may belong to these Nodes. */
export function listDoubtful(
  identities: readonly Identity[],
  instances: Inventory["instances"],
  memory: Memory,
): DoubtfulVms {
  const suspects = new Map<string, string>();
  const halted = new Set<string>();
  for (const identity of identities) {
    if (identity.kind === "other") continue;
    const vmIds =
      identity.kind === "providerId" ? [identity.vmId] : [identity.direct, identity.swapped];
    for (const vmId of vmIds) {
      const instance = instances.get(vmId);
      // Most VMs run, and there may be thousands.
      if (instance === undefined || instance.state === "running") continue;
      if (isHalted(identity, instance)) halted.add(vmId);
      const poolId = findSuspect(instance, identity, memory);
      if (poolId !== undefined) suspects.set(vmId, poolId);
    }
  }
  return { suspects, halted };
}

/** What to do if the user lacks a right that Landfall needs. No full stop. */
export const RIGHTS_ADVICE: string =
  "make the user an administrator, or (from Xen Orchestra 6.4 on) give it a role that may read " +
  "vm, host, pool, network, vif and server: the older ACLs do not count for the REST API";

/** What to do if Xen Orchestra shows no pool at all. */
export const NO_POOL_ADVICE: string = `check that a pool is connected (Settings, Servers), and ${RIGHTS_ADVICE}`;

/** A UUID with its first three groups reversed, as some firmware reports it. */
const SWAPPED = "the same UUID in the byte order that some firmware reports";

/** The provider ID and the kubelet name different VMs. */
function toContradiction(vmId: string, other: string): Presence {
  const message =
    `The provider ID names VM ${vmId}, but the kubelet reports the system UUID of VM ${other}; ` +
    "if the Node runs on that VM now, delete the Node and restart its kubelet, which then registers it again";
  return toUnknown("ambiguous", message);
}

/** The VM exists, but Landfall cannot read its record. */
function toUndecodable(id: string, problem: string): Presence {
  return toUnknown(
    "undecodable",
    `Cannot read VM ${id} in the answer of Xen Orchestra: ${problem}`,
  );
}

/**
 * Finds the first pool that was shown before and is not shown in full now, and why. It may hold VMs that are hidden
 * now.
 */
function findGap(coverage: Inventory["coverage"]): string | undefined {
  for (const [id, { complete, isOnlyNamed, name = id, reason = "" }] of coverage) {
    if (!complete && !isOnlyNamed) return `pool ${name}: ${reason}`;
  }
  return undefined;
}

/** The VM is shown as off, although a kubelet registers a Node for it. */
function toHalted(
  { id, region = "unknown", details }: Instance,
  coverage: Inventory["coverage"],
): Presence {
  const pool = coverage.get(region)?.name ?? region;
  const shown = `VM ${id} in pool ${pool} is ${details["powerState"] ?? "stopped"}`;
  const why = "the kubelet that registers the Node runs, so this VM may be a copy";
  const advice =
    "if it is the Node's VM, start it, or wait until Xen Orchestra shows that it runs; " +
    "if not, look in the other pools for a VM with the same UUID";
  return toUnknown("notCovered", `${shown}, but ${why}; ${advice}`);
}

/** The VM has the byte-swapped system UUID, but the VM with the reported UUID may be in a lost pool. */
function toUnproven({ id }: Instance, direct: string, gap: string): Presence {
  const message =
    `Cannot choose a VM: VM ${id} has the Node's system UUID in the byte order that some firmware reports, ` +
    `but VM ${direct} may be in ${gap}; reconnect that pool, or start the kubelet with --provider-id`;
  return toUnknown("notCovered", message);
}

/** No VM has the system UUID, in either byte order. */
function toNotFound({ coverage }: Inventory, direct: string, swapped: string): Presence {
  const other = swapped === direct ? "" : `, nor with ${swapped}, ${SWAPPED}`;
  const message = `Xen Orchestra has no VM with the system UUID ${direct}${other}`;
  const gap = findGap(coverage);
  if (gap !== undefined) return toUnknown("notCovered", `${message}; it may be in ${gap}`);
  const isAnyShown = [...coverage.values()].some(({ complete }) => complete);
  const advice =
    "check that the VM is in a pool of this Xen Orchestra, or start the kubelet with --provider-id";
  if (isAnyShown) return toUnknown("notFound", `${message}; ${advice}`);
  return toUnknown("notCovered", `${message}, and it shows no pool; ${NO_POOL_ADVICE}`);
}
