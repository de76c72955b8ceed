/**
 * What Xen Orchestra's list of its connections to pools (`/servers`) proves about the pools that are not shown. Pure.
 *
 * Nothing else names a pool that was lost before Landfall started. So the whole list must be readable: rights filter it
 * silently, and an empty list looks as if there were no connections.
 * @module
 */
import type { Inventory } from "../../../cloud/inventory/inventory.ts";
import type { ListReply } from "../../../cloud_http/decode.ts";
import { shorten } from "../../../core/text/printable.ts";
import type { Server } from "../wire/schema.ts";

/** The list as it was answered: `refused` for good (403), or `missing` on a server that has no such list (404). */
export type ServersReply = ListReply<Server> | "refused" | "missing";

/** What the list proves. Each `why` is half a sentence for people, without a full stop. */
export type Connections =
  /** Every enabled connection is up, and its pool is shown in full. Every pool that is shown is named. */
  | { readonly kind: "clear" }
  /** A connection is not up, or contradicts the pools that are shown. A VM may be in its pool. */
  | { readonly kind: "doubtful"; readonly why: string; readonly advice: string }
  /** The user cannot read the whole list. Any number of pools may be lost without being named. */
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
 * The list without connections that are down and name no pool, as those of lost pools do. What is left must hold one
 * for each pool that is shown, so that none of these is among the lost.
 */
export function withoutLost(servers: ServersReply): ServersReply {
  if (typeof servers === "string") return servers;
  const isLost = ({ enabled, status, poolId }: Server): boolean =>
    enabled !== false && status !== "connected" && !poolId;
  return { ...servers, objects: servers.objects.filter((server) => !isLost(server)) };
}

/** What is wrong with one connection. */
function findTrouble(server: Server, coverage: Inventory["coverage"]): string | undefined {
  const { enabled, poolId } = server;
  const isShown = Boolean(poolId && coverage.get(poolId)?.complete);
  const name = nameServer(server);
  if (enabled === false) {
    // One that is disabled on purpose names no pool any more.
    return isShown
      ? `the connection "${name}" is disabled, but Xen Orchestra shows its pool`
      : undefined;
  }
  if (server.status !== "connected") return `the connection "${name}" is ${nameState(server)}`;
  return isShown ? undefined : `the connection "${name}" is up, but its pool is not loaded`;
}

/** A connection's name for display. */
export function nameServer({ id, label, host }: Server): string {
  return shorten(label || host || id, WORD_CHARS_MAX);
}

/** The state of a connection for display. */
export function nameState({ status }: Server): string {
  return shorten(status ?? "in an unknown state", WORD_CHARS_MAX);
}

/** The server may answer anything, of any length. */
const WORD_CHARS_MAX = 100;

function toUnreadable(why: string, advice: string = READ_ADVICE): Connections {
  return {
    kind: "unreadable",
    why: `Landfall cannot read the list of connections to pools: ${why}`,
    advice,
  };
}
