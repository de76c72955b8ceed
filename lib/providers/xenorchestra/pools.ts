/**
 * The pools: whose Nodes are ours if another Landfall manages those of other pools (the setting `pools`), which ones
 * Xen Orchestra has not shown since the start, and what its list of connections (`/servers`) proves about those that
 * are not shown.
 *
 * The setting divides only Nodes. Landfall reads every pool, because any pool may hold the VM of one of our Nodes.
 * @module
 */
import type { Finding } from "../../cloud/inspection.ts";
import type { Coverage, Inventory } from "../../cloud/inventory/inventory.ts";
import type { Presence } from "../../cloud/provider.ts";
import type { Clock } from "../../core/clock.ts";
import type { Logger } from "../../core/log.ts";
import { remember } from "../../core/maps.ts";
import { findClosest } from "../../core/text/edit_distance.ts";
import { quote, shorten } from "../../core/text/printable.ts";
import { parseUuid } from "../../core/text/values.ts";
import type { Server, ServersReply, XenOrchestraApi } from "./client.ts";
import type { Identity } from "./identity.ts";

type Known = Pick<Inventory, "coverage" | "instances">;
type Shown = Pick<Inventory, "coverage">;

/** Maximum number of pools that only Nodes name, because a client that registers Nodes can name any pool. */
const NAMED_POOLS_MAX = 64;

/** Reason for a pool that was not shown since the start. */
export const NEVER_SHOWN: string =
  "Xen Orchestra has not shown the pool since Landfall started; its connection may be down";
/** Reason for an entry of `pools` that was not shown since the start. */
const NOT_SHOWN =
  'it is in "pools", but Xen Orchestra has not shown it since Landfall started: ' +
  "its connection may be down, or the name is wrong";
const NONE = "no pool that the user can see has this name or UUID";

/** The pools whose Nodes are ours. */
export class PoolScope {
  /** IDs in lower case, and names; absent: all pools. */
  readonly #wanted: ReadonlySet<string> | undefined;
  readonly #lastNames: ReadonlyMap<string, string>;
  readonly #log: Logger;
  /** The pools that are only named, as logged last. */
  #logged: ReadonlySet<string> = new Set();
  #hadNone = false;

  /**
   * @param pools IDs in any form, or names; absent: all pools
   * @param lastNames The last known names of pools, by ID. They keep the Nodes of a removed pool ours
   */
  constructor(
    pools: readonly string[] | undefined,
    lastNames: ReadonlyMap<string, string>,
    log: Logger,
  ) {
    this.#wanted = pools && new Set(pools.map((one) => parseUuid(one) ?? one));
    this.#lastNames = lastNames;
    this.#log = log;
  }

  /**
   * Returns `foreign` if a Node is not ours by its provider ID: the ID names a pool that is not ours, or it names no
   * pool and the VM is in none of our pools.
   */
  refuse(identity: Identity, known: Known): Presence | undefined {
    if (this.#wanted === undefined || identity.kind !== "providerId") return undefined;
    const { vmId, poolId = known.instances.get(vmId)?.region } = identity;
    if (poolId !== undefined && this.#owns(poolId, known)) return undefined;
    const pool =
      poolId === undefined ? "no pool" : `pool ${this.#findName(poolId, known) ?? poolId}`;
    return toForeign(`its provider ID names ${pool}, which is not in "pools"`);
  }

  /**
   * Judges the pool where a VM was found. If the VM of a Node without a provider ID is in another pool, the Node is not
   * ours. If the VM of one of our Nodes is in another pool, the Node stays ours, and the result has a caution.
   */
  place(identity: Identity, presence: Presence, known: Known): Presence {
    if (presence.kind !== "present") return presence;
    const { region, id } = presence.instance;
    if (region === undefined || this.#owns(region, known)) return presence;
    const name = this.#findName(region, known) ?? region;
    const where = `VM ${id} is in pool ${name}, which is not in "pools"`;
    if (identity.kind !== "providerId") return toForeign(where);
    const caution = `${where}; Landfall keeps the Node: move the VM back, or add that pool to "pools"`;
    return { ...presence, caution };
  }

  /**
   * Adds pools to an inventory that our Nodes or the setting `pools` name. Logs each missing pool once, and logs once
   * if no pool is shown. Returns `inventory` itself if there are none.
   *
   * Only the provider IDs of Nodes whose VMs are not shown count. If a VM moves, its provider ID still names its first
   * pool, which may be gone. Region labels do not count, because any client can write one again and again.
   *
   * Such a pool protects its own Nodes and causes an alert. It does not protect the Nodes of other pools: it may have
   * been removed long ago, or belong to another Xen Orchestra, and Landfall cannot find out.
   */
  addNamed(inventory: Inventory, identities: readonly Identity[]): Inventory {
    const unknown = this.#listUnknown(inventory);
    const named = new Map(unknown.map((one) => [one, toNamed(NOT_SHOWN)]));
    for (const identity of identities) {
      if (named.size >= NAMED_POOLS_MAX + unknown.length) break;
      if (identity.kind !== "providerId" || identity.poolId === undefined) continue;
      const { vmId, poolId } = identity;
      if (inventory.coverage.has(poolId) || named.has(poolId)) continue;
      if (!this.#owns(poolId, inventory)) continue;
      if (inventory.instances.has(vmId) || inventory.undecodable.has(vmId)) continue;
      named.set(poolId, toNamed(NEVER_SHOWN));
    }
    this.#logNamed(named, inventory);
    if (named.size === 0) return inventory;
    return { ...inventory, coverage: new Map([...inventory.coverage, ...named]) };
  }

  #logNamed(named: ReadonlyMap<string, Coverage>, { coverage }: Shown): void {
    const hasNone = coverage.size === 0;
    if (hasNone && !this.#hadNone) {
      const advice = "check the connections of Xen Orchestra, and the user's right to read pools";
      this.#log.warn("Xen Orchestra shows no pool", { advice });
    }
    this.#hadNone = hasNone;
    for (const [pool, part] of named) {
      if (this.#logged.has(pool)) continue;
      const { reason } = part;
      const advice = isUnknownEntry(part)
        ? toEntryAdvice(pool, coverage)
        : "reconnect it; if it was removed for good, delete its Nodes";
      this.#log.warn("Xen Orchestra does not show a pool that a Node or a setting names", {
        pool,
        reason,
        advice,
      });
    }
    this.#logged = new Set(named.keys());
  }

  /** Lists the IDs and names for which no pool was shown since the start. */
  #listUnknown({ coverage }: Shown): string[] {
    const names = new Set([...coverage.values()].map(({ name }) => name));
    return [...(this.#wanted ?? [])].filter((one) => !coverage.has(one) && !names.has(one));
  }

  /**
   * Whether a pool is ours. A name counts only if the pool was shown since the start, because before that it is not
   * known.
   */
  #owns(poolId: string, known: Shown): boolean {
    if (this.#wanted === undefined || this.#wanted.has(poolId)) return true;
    const name = this.#findName(poolId, known);
    return name !== undefined && this.#wanted.has(name);
  }

  #findName(poolId: string, { coverage }: Shown): string | undefined {
    return coverage.get(poolId)?.name ?? this.#lastNames.get(poolId);
  }
}

function toNamed(reason: string): Coverage {
  return { complete: false, isOnlyNamed: true, reason };
}

function toForeign(message: string): Presence {
  return { kind: "foreign", message: `${message}: another Landfall manages this Node` };
}

/** Whether a part of the coverage is only an entry of `pools` that was not shown. */
function isUnknownEntry({ isOnlyNamed, reason }: Coverage): boolean {
  return isOnlyNamed === true && reason === NOT_SHOWN;
}

/** What to do about such an entry while its pool may exist. It suggests the pool with the closest name or UUID. */
function toEntryAdvice(entry: string, coverage: Shown["coverage"]): string {
  const closest = suggestPool(entry, coverage);
  const hint = closest === undefined ? "" : ` (did you mean ${closest}?)`;
  return `correct it in "pools"${hint}, or reconnect the pool`;
}

/**
 * Returns such entries as findings, for an operator who sets up the cloud.
 *
 * @param servers The connections to pools. Absent: there is no answer
 */
export function listUnknownEntryFindings(
  { coverage }: Shown,
  servers: ServersReply | undefined,
): Finding[] {
  const [entries, pools] = split(coverage);
  const isWhole = servers !== undefined && isEveryPoolShown(servers, pools);
  return entries.map((entry): Finding => {
    const finding = { level: "warning", code: "unknownPool" } as const;
    const message = `pool ${quote(entry)} is in "pools", but`;
    if (!isWhole) {
      const why = "its connection may be down, or the name is wrong";
      const advice = toEntryAdvice(entry, pools);
      return { ...finding, message: `${message} Xen Orchestra does not show it: ${why}`, advice };
    }
    const closest = suggestPool(entry, pools);
    const hint = closest === undefined ? "" : `; did you mean ${closest}?`;
    const advice = `correct it in "pools"${hint}`;
    return { ...finding, message: `${message} ${NONE}`, advice };
  });
}

/** Returns an inventory without such entries. */
export function withoutUnknownEntries<T extends Shown>(inventory: T): T {
  const [entries, coverage] = split(inventory.coverage);
  return entries.length === 0 ? inventory : { ...inventory, coverage };
}

/** The pool of a disabled connection is in no list, so only a list without such connections is whole. */
function isEveryPoolShown(servers: ServersReply, coverage: Inventory["coverage"]): boolean {
  if (typeof servers === "string" || servers.objects.some((one) => one.enabled === false)) {
    return false;
  }
  return judgeConnections(servers, coverage).kind === "clear";
}

function split(coverage: Shown["coverage"]): [entries: string[], pools: Map<string, Coverage>] {
  const { entries = [], pools = [] } = Object.groupBy(coverage, ([, part]) =>
    isUnknownEntry(part) ? "entries" : "pools",
  );
  return [entries.map(([entry]) => entry), new Map(pools)];
}

/** Names differ by case, too: that is the most common mistake. */
function suggestPool(entry: string, coverage: Shown["coverage"]): string | undefined {
  const pools = [...coverage].filter(([, { isOnlyNamed }]) => !isOnlyNamed);
  const words = pools.flatMap(([id, { name }]) => [...(name === undefined ? [] : [name]), id]);
  const lower = words.map((word) => word.toLowerCase());
  const closest = findClosest(entry.toLowerCase(), lower);
  return closest === undefined ? undefined : words[lower.indexOf(closest)];
}

/** What the list proves. Each `why` is a clause for operators, without a full stop. */
type Connections =
  /** Every enabled connection is up, and its pool is shown in full. The list names every pool that is shown. */
  | { readonly kind: "clear" }
  /** A connection is down, or contradicts the pools that are shown. A VM may be in its pool. */
  | { readonly kind: "doubtful"; readonly why: string; readonly advice: string }
  /** The user cannot read the whole list. Pools that the list does not name may be lost. */
  | { readonly kind: "unreadable"; readonly why: string; readonly advice: string };

const READ_ADVICE =
  'give the user the privilege "read" on "server", for all servers: see the guide on permissions';

/**
 * Judges the list of connections.
 *
 * @param coverage The pools of the newest inventory
 */
export function judgeConnections(
  servers: ServersReply,
  coverage: Inventory["coverage"],
): Connections {
  if (servers === "refused") return toUnreadable("the user has no right to read it");
  if (servers === "missing") {
    return toUnreadable("this server has no such list", `update Xen Orchestra, and ${READ_ADVICE}`);
  }
  if (servers.objects.length === 0 && servers.undecodable.size === 0) {
    return toUnreadable("it is empty");
  }
  const [unread] = servers.undecodable.values();
  if (unread !== undefined) {
    const why = `Landfall cannot read one of the connections to pools: ${unread}`;
    return { kind: "doubtful", why, advice: "report this with the version of Xen Orchestra" };
  }
  const connected = new Set<string>();
  for (const server of servers.objects) {
    const why = findTrouble(server, coverage);
    if (why !== undefined) {
      const advice = "repair the connection, or disable it if the pool is gone";
      return { kind: "doubtful", why, advice };
    }
    if (server.enabled !== false && server.poolId) connected.add(server.poolId);
  }
  for (const [id, { complete, name = id }] of coverage) {
    if (!complete || connected.has(id)) continue;
    return toUnreadable(
      `it shows no connection to pool ${name}, although Xen Orchestra shows the pool`,
    );
  }
  return { kind: "clear" };
}

/**
 * Returns the list without connections that are down and name no pool, as those of lost pools do. If the rest has a
 * connection for each pool that is shown, none of these pools is lost.
 */
export function withoutLost(servers: ServersReply): ServersReply {
  if (typeof servers === "string") return servers;
  const isLost = ({ enabled, status, poolId }: Server): boolean =>
    enabled !== false && status !== "connected" && !poolId;
  return { ...servers, objects: servers.objects.filter((server) => !isLost(server)) };
}

/** Says what is wrong with one connection; `undefined` if nothing is. */
function findTrouble(server: Server, coverage: Inventory["coverage"]): string | undefined {
  const { enabled, poolId } = server;
  const isShown = Boolean(poolId && coverage.get(poolId)?.complete);
  const name = nameServer(server);
  if (enabled === false) {
    // A connection that an operator disabled no longer names a pool.
    return isShown
      ? `the connection "${name}" is disabled, but Xen Orchestra shows its pool`
      : undefined;
  }
  if (server.status !== "connected") return `the connection "${name}" is ${nameState(server)}`;
  return isShown ? undefined : `the connection "${name}" is up, but its pool is not loaded`;
}

/** Returns a connection's name for display. */
export function nameServer({ id, label, host }: Server): string {
  return shorten(label || host || id, WORD_CHARS_MAX);
}

/** Returns the state of a connection for display. */
export function nameState({ status }: Server): string {
  return shorten(status ?? "in an unknown state", WORD_CHARS_MAX);
}

/** Maximum length, because the server may answer with any text. */
const WORD_CHARS_MAX = 100;

function toUnreadable(why: string, advice: string = READ_ADVICE): Connections {
  return {
    kind: "unreadable",
    why: `Landfall cannot read the list of connections to pools: ${why}`,
    advice,
  };
}

/** How long the entry of a pool must be gone before the pool counts as removed. */
const GONE_MS = 600_000;
/** Time between two reads of the list while a pool is lost. */
const LOST_INTERVAL_MS = 60_000;
/** Time between two reads if the last one failed or was incomplete, and while a pool is removed. */
const SLOW_INTERVAL_MS = 600_000;
const POOLS_MAX = 256;
/** Maximum number of entries to remember for one pool; the newest stay. */
const ENTRIES_MAX = 16;

/** The pools of an inventory. */
type Pools = Inventory["coverage"];

/** A pool that was removed from Xen Orchestra. */
export interface RemovedPool {
  readonly poolId: string;
  readonly name: string;
  /** When Landfall first knew that its connection is gone, in monotonic milliseconds. */
  readonly goneMs: number;
}

/** What {@linkcode PoolHistory.look} needs. */
interface LookDeps {
  readonly api: XenOrchestraApi;
  readonly clock: Clock;
  readonly log: Logger;
}

/** A series of complete reads without any connection to a pool. */
interface Gone {
  /** Time of the answer to the first read. */
  readonly sinceMs: number;
  /** Time of the request for the last read. */
  readonly untilMs: number;
}

/**
 * Remembers at most 256 pools that were ever shown, which connection belongs to which pool, and since when it is gone.
 * This distinguishes a pool that was removed for good from a pool that is only disconnected.
 *
 * If a connection is down, its entry no longer names its pool, so it may belong to any pool. The removal of a pool is
 * proven only if its entry was seen while it was up, and is gone now.
 */
export class PoolHistory {
  readonly #names = new Map<string, string>();
  /** By pool, the IDs of its entries that were up. */
  readonly #entries = new Map<string, ReadonlySet<string>>();
  readonly #gone = new Map<string, Gone>();
  /** The pools of the newest inventory. */
  #pools: Pools = new Map();
  /** Pools that were shown at the last read of the list. The next read soon after would say nothing new about them. */
  #tried: ReadonlySet<string> = new Set();
  #readMs = -Infinity;
  /** Whether the last read had no answer. */
  #isUnanswered = false;
  #looking: Promise<void> | undefined;

  /**
   * Last known names of all pools that were ever shown, by ID. Beyond the limit it forgets the pool not shown for the
   * longest time.
   */
  get names(): ReadonlyMap<string, string> {
    return this.#names;
  }

  /** Pools that were removed for good, as far as Landfall knows now. */
  get removed(): readonly RemovedPool[] {
    return [...this.#gone]
      .filter(([poolId]) => this.isRemoved(poolId))
      .map(([poolId, { sinceMs }]) => {
        return { poolId, name: this.#names.get(poolId) ?? poolId, goneMs: sinceMs };
      });
  }

  /** Whether every connection to a pool was gone in every read for ten minutes. */
  isRemoved(poolId: string): boolean {
    const gone = this.#gone.get(poolId);
    return gone !== undefined && gone.untilMs - gone.sinceMs >= GONE_MS;
  }

  /** Records a pool that a list shows. Its connection is not gone, even if an older list of connections lacks it. */
  noteShown(poolId: string, name: string): void {
    remember(this.#names, poolId, name, POOLS_MAX);
    this.#gone.delete(poolId);
  }

  /** Records that another user reads from now on. The ten minutes start again. */
  noteOtherUser(): void {
    this.#isUnanswered = false;
    this.#gone.clear();
  }

  /**
   * Reads the list of connections if it can say something new. Call it after each inventory. Never rejects: after a
   * failure, Landfall only knows less.
   *
   * @param pools The pools of the inventory
   * @param signal Aborts when requests use another server or user, and at the end of the process
   */
  async look(pools: Pools, deps: LookDeps, signal: AbortSignal): Promise<void> {
    this.#pools = pools;
    for (const poolId of listShown(pools)) this.#gone.delete(poolId);
    if (this.#looking === undefined && !signal.aborted && this.#isDue(deps.clock.monotonic())) {
      this.#looking = this.#read(deps, signal).finally(() => (this.#looking = undefined));
    }
    await this.#looking;
  }

  /**
   * Whether a read of the list is due: at once for a pool that is shown for the first time; once a minute while a pool
   * with a known connection is lost; every ten minutes while the list cannot be read or is incomplete; otherwise never.
   */
  #isDue(nowMs: number): boolean {
    const shown = listShown(this.#pools);
    const isNew = shown.some((id) => !this.#entries.has(id) && !this.#tried.has(id));
    if (isNew && !this.#isUnanswered) return true;
    const lost = [...this.#entries.keys()].filter((id) => !this.#pools.get(id)?.complete);
    const isWaiting = lost.some((id) => !this.isRemoved(id));
    if (isWaiting) return nowMs - this.#readMs >= LOST_INTERVAL_MS;
    const isUnclear = lost.length > 0 || shown.some((id) => !this.#entries.has(id));
    return isUnclear && nowMs - this.#readMs >= SLOW_INTERVAL_MS;
  }

  async #read({ api, clock, log }: LookDeps, signal: AbortSignal): Promise<void> {
    const askedMs = clock.monotonic();
    const before = new Set(this.removed.map(({ poolId }) => poolId));
    try {
      const servers = await api.listServers(signal);
      this.#note(servers, { askedMs, answeredMs: clock.monotonic() });
      for (const poolId of this.#gone.keys()) {
        // If the user lost the right to see a pool, every list looks as if it were removed. But Xen Orchestra refuses
        // a direct read of it.
        const pool = await api.read("pools", poolId, signal);
        if (pool.kind !== "missing") this.#gone.delete(poolId);
      }
    } catch (error) {
      if (signal.aborted) return;
      this.#readMs = askedMs;
      this.#isUnanswered = true;
      this.#gone.clear();
      log.debug("Cannot list the connections to pools", { error });
    }
    for (const { poolId, name } of this.removed) {
      if (before.has(poolId)) continue;
      const message =
        "A pool was removed from Xen Orchestra; Landfall can delete Nodes in other pools again";
      log.info(message, { poolId, poolName: name });
    }
  }

  /**
   * Records the list. A missing entry counts only if the list has a connection for each pool that is shown, and every
   * entry names its pool. Any other read starts the ten minutes again. If an entry now names another pool, it is gone
   * for its old pool.
   *
   * @param times Of the request for the list, and of its answer; monotonic milliseconds
   */
  #note(
    servers: ServersReply,
    { askedMs, answeredMs }: { readonly askedMs: number; readonly answeredMs: number },
  ): void {
    // Pools may have come back during the read.
    const shown = listShown(this.#pools);
    this.#readMs = askedMs;
    this.#isUnanswered = false;
    this.#tried = new Set(shown);
    if (typeof servers === "string" || !isWhole(servers, this.#pools)) {
      this.#gone.clear();
      if (typeof servers !== "string") this.#learn(servers.objects);
      return;
    }
    // Forget entries that were replaced or now name another pool.
    for (const poolId of shown) this.#entries.delete(poolId);
    this.#learn(servers.objects);
    const gone = new Map(this.#gone);
    this.#gone.clear();
    for (const [poolId, entries] of this.#entries) {
      const isListed = servers.objects.some((one) => one.poolId === poolId && entries.has(one.id));
      if (isListed || shown.includes(poolId)) continue;
      const { sinceMs = answeredMs } = gone.get(poolId) ?? {};
      this.#gone.set(poolId, { sinceMs, untilMs: askedMs });
    }
  }

  #learn(servers: readonly Server[]): void {
    for (const { id, status, poolId } of servers) {
      if (status !== "connected" || !poolId) continue;
      const known = [...(this.#entries.get(poolId) ?? [])].filter((one) => one !== id);
      remember(this.#entries, poolId, new Set([...known, id].slice(-ENTRIES_MAX)), POOLS_MAX);
    }
  }
}

/** Whether the list seems to contain every connection, and each names its pool. */
export function isWhole(servers: ServersReply, pools: Pools): boolean {
  return (
    typeof servers !== "string" &&
    judgeConnections(servers, pools).kind === "clear" &&
    servers.objects.every(({ poolId }) => poolId)
  );
}

function listShown(pools: Pools): string[] {
  return [...pools].flatMap(([id, { complete }]) => (complete ? [id] : []));
}
