/**
 * Judges what Xen Orchestra's list of its connections (`/servers`) proves about pools that are not shown. Pure.
 *
 * Only this list names a pool that was lost before Landfall started. So Landfall must be able to read the whole list.
 * Missing rights filter it silently, and an empty list looks as if there were no connections.
 * @module
 */
import type { Inventory } from "../../../cloud/inventory/inventory.ts";
import type { ListReply } from "../../../cloud_http/decode.ts";
import { shorten } from "../../../core/text/printable.ts";
import type { Server } from "../wire/schema.ts";

/** The answer: a list, `refused` (403), or `missing` if the server has no such list (404). */
export type ServersReply = ListReply<Server> | "refused" | "missing";

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
