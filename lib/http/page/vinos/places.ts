/**
 * Where machines are: the pools of the cloud, their hosts, and the machines on them. Pure.
 * @module
 */
import { toVinoKey } from "../../vinos/keys.ts";
import type {
  CloudHostView,
  CloudMachineView,
  CloudPoolView,
  CloudView,
  VinoMachineView,
  VinoView,
} from "../../vinos/views.ts";
import { judgeMachine, MACHINE_LOOK_NAMES, type MachineLook } from "./state.ts";

/** Number of machines in each state that occurs, the worst first. */
type MachineCounts = readonly (readonly [MachineLook, number])[];

/** A machine somewhere. */
export interface MachineTile {
  /** In the cloud. */
  readonly name: string;
  readonly look: MachineLook;
  /** `namespace/name` of its Vino. Absent: no Vino of this cluster has it. */
  readonly vino?: string;
  /** What its Vino says. Absent: nothing yet. */
  readonly machine?: VinoMachineView;
  /** What the cloud shows. Absent: nothing. */
  readonly shown?: CloudMachineView;
}

/** A host with its machines. */
export interface HostPlace {
  readonly host: CloudHostView;
  readonly tiles: readonly MachineTile[];
}

/** A pool with its hosts. */
export interface PoolPlace {
  readonly pool: CloudPoolView;
  /** By name. */
  readonly hosts: readonly HostPlace[];
  /** Machines in it whose host is not known. */
  readonly loose: readonly MachineTile[];
  readonly counts: MachineCounts;
}

/** Where all machines are. */
export interface Places {
  /** By name. */
  readonly pools: readonly PoolPlace[];
  /** Machines whose pool is not known, either. */
  readonly others: readonly MachineTile[];
  readonly counts: MachineCounts;
}

/** Puts every machine on its host: where the cloud shows it, otherwise where it should start. */
export function toPlaces(vinos: readonly VinoView[], cloud: CloudView): Places {
  const tiles = listTiles(vinos, cloud);
  const hosts = new Map(cloud.hosts.map((host) => [host.id, host]));
  const byHost = Map.groupBy(tiles, (tile) => hosts.get(findHostId(tile) ?? "")?.id);
  const homeless = Map.groupBy(byHost.get(undefined) ?? [], ({ shown }) => shown?.poolId);
  const pools = cloud.pools.toSorted(byName).map((pool): PoolPlace => {
    const inPool = cloud.hosts.filter(({ poolId }) => poolId === pool.id).toSorted(byName);
    const places = inPool.map((host) => ({ host, tiles: byHost.get(host.id) ?? [] }));
    const loose = homeless.get(pool.id) ?? [];
    const all = [...places.flatMap((place) => place.tiles), ...loose];
    return { pool, hosts: places, loose, counts: countTiles(all) };
  });
  const known = new Set<string | undefined>(cloud.pools.map(({ id }) => id));
  const others = [...homeless].flatMap(([poolId, some]) => (known.has(poolId) ? [] : some));
  return { pools, others, counts: countTiles(tiles) };
}

/** Counts machines by their states. */
export function countTiles(tiles: readonly MachineTile[]): MachineCounts {
  const byLook = Map.groupBy(tiles, ({ look }) => look);
  return MACHINE_LOOK_NAMES.map((look) => [look, byLook.get(look)?.length ?? 0] as const).filter(
    ([, count]) => count > 0,
  );
}

/** ID of the host of a machine. */
export function findHostId({
  machine,
  shown,
}: Pick<MachineTile, "machine" | "shown">): string | undefined {
  return shown?.hostId ?? machine?.host;
}

/** Machines of Vinos, each as often as the cloud shows it, then those that only the cloud shows. */
function listTiles(vinos: readonly VinoView[], { machines }: CloudView): MachineTile[] {
  const byName = Map.groupBy(machines, ({ name }) => name);
  const told = new Set<string>();
  const tiles = vinos.flatMap((view) =>
    view.machines.flatMap((machine): MachineTile[] => {
      const { name } = machine;
      told.add(name);
      const base = { name, vino: toVinoKey(view), machine };
      const shown = byName.get(name) ?? [];
      if (shown.length === 0) return [{ ...base, look: judgeMachine(machine, undefined) }];
      return shown.map((one) => ({ ...base, shown: one, look: judgeMachine(machine, one) }));
    }),
  );
  const more = machines.filter(({ name }) => !told.has(name));
  return [
    ...tiles,
    ...more.map((shown): MachineTile => {
      const { name, vino } = shown;
      return vino === undefined
        ? { name, shown, look: "stray" }
        : { name, shown, vino, look: "making" };
    }),
  ];
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : 1;
}
