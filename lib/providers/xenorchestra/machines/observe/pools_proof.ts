/**
 * Proves which pools answered in full during an observation. Pure.
 *
 * Xen Orchestra forgets every VM of a pool as soon as its connection to the pool fails. So what a list lacks is missing
 * only if the pool was there before the list and after it.
 * @module
 */
import type { Coverage, Inventory } from "../../../../cloud/inventory/inventory.ts";
import type { MachinePool } from "../../../../cloud/capabilities/machines.ts";
import { judgeConnections } from "../../pools.ts";
import type { ServersReply } from "../../client.ts";
import type { RawHost, RawPool } from "../wire/objects.ts";

/** The pools and their hosts at one time. */
export interface Shown {
  readonly pools: readonly RawPool[];
  readonly hosts: readonly RawHost[];
}

/** What the proof needs. */
export interface PoolsQuestion {
  readonly before: Shown;
  readonly after: Shown;
  /** IDs of pools of which a VM or a template was listed in between. */
  readonly loaded: ReadonlySet<string>;
  /** Absent: what is missing does not matter. */
  readonly servers?: ServersReply | undefined;
  /** The pools of the newest inventory: it knows those that were shown earlier. */
  readonly coverage: Inventory["coverage"];
}

/** The pools, and why machines may be in one that was not shown; no full stop. */
interface PoolsAnswer {
  readonly pools: readonly MachinePool[];
  readonly gap?: string;
}

/** Says which pools answered in full. */
export function provePools(question: PoolsQuestion): PoolsAnswer {
  const { before, after, loaded, servers, coverage } = question;
  const isThere = (poolId: string): boolean =>
    isConnected(before, poolId) && isConnected(after, poolId) && loaded.has(poolId);
  const shown = before.pools.map(({ id, name_label: name }) => ({
    id,
    name: name ?? id,
    isComplete: isThere(id),
  }));
  const known = new Set(shown.map(({ id }) => id));
  const lost = [...coverage].filter(([id, { isOnlyNamed }]) => !known.has(id) && !isOnlyNamed);
  const pools = [...shown, ...lost.map(([id, { name = id }]) => ({ id, name, isComplete: false }))];
  const gap = findGap(pools, servers);
  return { pools, ...(gap !== undefined && { gap }) };
}

/** Whether a pool and its master host are shown. */
function isConnected({ pools, hosts }: Shown, poolId: string): boolean {
  const master = pools.find(({ id }) => id === poolId)?.master;
  return hosts.some((host) => host.id === master && host.$pool === poolId);
}

function findGap(
  pools: readonly MachinePool[],
  servers: ServersReply | undefined,
): string | undefined {
  if (pools.length === 0) return "Xen Orchestra shows no pool";
  const lost = pools.find(({ isComplete }) => !isComplete);
  if (lost !== undefined) return `pool ${lost.name} is disconnected or still loading`;
  if (servers === undefined) return undefined;
  const coverage = new Map<string, Coverage>(
    pools.map(({ id, name }) => [id, { complete: true, name }]),
  );
  const connections = judgeConnections(servers, coverage);
  return connections.kind === "doubtful" ? connections.why : undefined;
}
