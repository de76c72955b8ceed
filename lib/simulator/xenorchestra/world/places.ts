/**
 * The pools and hosts of the small worlds: two pools, three hosts in Paris and two in Lyon.
 * @module
 */
import { toUuid } from "../../uuid.ts";
import { toController, toHost, toPool, toServer, type World, type XoRecord } from "../records.ts";

/** Names of the pools. */
type PlaceName = "paris" | "lyon";

/** Names of the hosts: three in Paris, two in Lyon. */
export type DemoHostName = "xcp-par-1" | "xcp-par-2" | "xcp-par-3" | "xcp-lyo-1" | "xcp-lyo-2";

/** The pools and hosts, and their part of a world. */
export interface Places {
  readonly poolIds: Readonly<Record<PlaceName, string>>;
  readonly hostIds: Readonly<Record<DemoHostName, string>>;
  readonly pools: readonly XoRecord[];
  readonly world: Pick<World, "hosts" | "pools" | "servers" | "vm-controllers">;
}

/** Creates them. The same UUIDs in every run. */
export function createPlaces(): Places {
  const poolIds = { paris: toUuid("pool/paris"), lyon: toUuid("pool/lyon") };
  const hostIds = {
    "xcp-par-1": toUuid("host/xcp-par-1"),
    "xcp-par-2": toUuid("host/xcp-par-2"),
    "xcp-par-3": toUuid("host/xcp-par-3"),
    "xcp-lyo-1": toUuid("host/xcp-lyo-1"),
    "xcp-lyo-2": toUuid("host/xcp-lyo-2"),
  };
  const pools = [
    toPool({ name: "paris", masterId: hostIds["xcp-par-1"] }),
    toPool({ name: "lyon", masterId: hostIds["xcp-lyo-1"] }),
  ];
  const hosts = Object.entries(hostIds).map(([name, id], index) => {
    const poolId = name.includes("-par-") ? poolIds.paris : poolIds.lyon;
    const tags = [`rack=r${index + 1}`];
    return toHost({ name, id, poolId, address: `10.0.0.${index + 11}`, tags });
  });
  const world = {
    pools,
    hosts,
    servers: pools.map((pool) => toServer(pool, `${String(pool["name_label"])}.xcp.example`)),
    "vm-controllers": hosts.map((host) => toController(host)),
  };
  return { poolIds, hostIds, pools, world };
}
