/**
 * Where machines are: the pools of the cloud, their hosts, and the machines on them. Pure.
 * @module
 */
import { toObjectPath } from "../kind.ts";
import {
  type Box,
  type BoxesSection,
  compareNames,
  type Count,
  countStates,
  formatCount,
  type KindState,
  type TableSection,
  type Tile,
} from "../page/model.ts";
import type {
  CloudHostView,
  CloudMachineView,
  CloudView,
  VinoMachineView,
  VinoView,
} from "./views.ts";

const PATH = "vinos";
/** With more machines or hosts than this in total, the boxes of hosts are closed at first. */
const OPEN_MAX = 300;

/** States of machines, the worst first. */
const LOOKS = {
  blocked: {
    name: "blocked",
    word: "blocked",
    meaning: "A person must decide; until then, Landfall does not change it.",
    looksLike: "failing",
  },
  unknown: {
    name: "unknown",
    word: "unknown",
    meaning: "A part of the cloud that may hold it does not answer.",
    looksLike: "unseen",
  },
  waiting: {
    name: "waiting",
    word: "not begun",
    meaning: "It does not exist yet.",
    looksLike: "notReady",
  },
  differs: {
    name: "differs",
    word: "differs",
    meaning: "It is ready, but not as the spec asks.",
    looksLike: "differs",
  },
  removing: {
    name: "removing",
    word: "being removed",
    meaning: "Landfall removes it.",
    looksLike: "outOfService",
  },
  making: {
    name: "making",
    word: "being made",
    meaning: "It is not complete yet.",
    looksLike: "joining",
  },
  off: {
    name: "off",
    word: "off",
    meaning: "It is complete, and does not run.",
    looksLike: "stopped",
  },
  ready: { name: "ready", word: "ready", meaning: "It is as the spec asks.", looksLike: "well" },
  unwanted: {
    name: "unwanted",
    word: "not wanted",
    meaning: "The spec does not want it any more, and Landfall keeps it.",
    looksLike: "foreign",
  },
  stray: {
    name: "stray",
    word: "without a Vino",
    meaning: "No Vino of this cluster has it: its Vino was deleted, or is in another cluster.",
    looksLike: "foreign",
  },
} as const satisfies Readonly<Record<string, KindState>>;

const BY_STATE: ReadonlyMap<string, "blocked" | "unknown" | "removing" | "waiting"> = new Map([
  ["Blocked", "blocked"],
  ["Unknown", "unknown"],
  ["Removing", "removing"],
  ["Absent", "waiting"],
]);
const OFF: ReadonlySet<string | undefined> = new Set(["stopped", "suspended"]);

/** Judges a machine of a Vino. @param shown What the cloud shows of it */
export function judgeMachine(
  { state, isWanted, parts }: VinoMachineView,
  shown: Pick<CloudMachineView, "power"> | undefined,
): KindState {
  const plain = BY_STATE.get(state);
  if (plain !== undefined && (isWanted || plain !== "waiting")) return LOOKS[plain];
  if (!isWanted) return LOOKS.unwanted;
  if (state !== "Ready") return LOOKS.making;
  if (parts.some(({ wanted, actual }) => wanted !== actual)) return LOOKS.differs;
  return OFF.has(shown?.power) ? LOOKS.off : LOOKS.ready;
}

/** What uses a machine: the consumer of its BareMetalHost, and its SIPCluster. Empty: nothing does. */
export function describeUse({ consumer = "", cluster = "" }: VinoMachineView): string {
  const claim = cluster === "" ? "" : `SIPCluster ${cluster}`;
  return [consumer, claim].filter(Boolean).join(", ");
}

/** Path of the page of a Vino with only one machine. @param key `namespace/name` of the Vino */
export function toMachinePath(key: string, machine: string): string {
  return `${toObjectPath(PATH, key)}?machine=${encodeURIComponent(machine.toWellFormed())}`;
}

/** A machine somewhere. */
interface PlacedMachine {
  /** In the cloud. */
  readonly name: string;
  readonly look: KindState;
  /** `namespace/name` of its Vino. Absent: no Vino of this cluster has it. */
  readonly vino?: string;
  /** What its Vino says. Absent: nothing yet. */
  readonly machine?: VinoMachineView;
  /** What the cloud shows. Absent: nothing. */
  readonly shown?: CloudMachineView;
}

/** ID of the host of a machine: where the cloud shows it, otherwise where it should start. */
export function findHostId({
  machine,
  shown,
}: Pick<PlacedMachine, "machine" | "shown">): string | undefined {
  return shown?.hostId ?? machine?.host;
}

/** Machines of Vinos, each as often as the cloud shows it, then those that only the cloud shows. */
function listMachines(vinos: readonly VinoView[], { machines }: CloudView): PlacedMachine[] {
  const byName = Map.groupBy(machines, ({ name }) => name);
  const told = new Set<string>();
  const placed = vinos.flatMap((view) =>
    view.machines.flatMap((machine): PlacedMachine[] => {
      const { name } = machine;
      told.add(name);
      const base = { name, vino: `${view.namespace}/${view.name}`, machine };
      const shown = byName.get(name) ?? [];
      if (shown.length === 0) return [{ ...base, look: judgeMachine(machine, undefined) }];
      return shown.map((one) => ({ ...base, shown: one, look: judgeMachine(machine, one) }));
    }),
  );
  const more = machines.filter(({ name }) => !told.has(name));
  return [
    ...placed,
    ...more.map((shown): PlacedMachine => {
      const { name, vino } = shown;
      return vino === undefined
        ? { name, shown, look: LOOKS.stray }
        : { name, shown, vino, look: LOOKS.making };
    }),
  ];
}

/** All machines in their places. @param query Only machines that contain this text, in lower case. Empty: all */
export function toPlaceBoxes(
  vinos: readonly VinoView[],
  cloud: CloudView,
  query: string,
): { readonly section: BoxesSection; readonly total: number } {
  const all = listMachines(vinos, cloud);
  const machines = all.filter(({ name, vino = "", machine }) =>
    [name, vino, machine === undefined ? "" : describeUse(machine)].some((one) =>
      one.toLowerCase().includes(query),
    ),
  );
  const hosts = new Map(cloud.hosts.map((host) => [host.id, host]));
  const byHost = Map.groupBy(machines, (one) => hosts.get(findHostId(one) ?? "")?.id);
  const homeless = Map.groupBy(byHost.get(undefined) ?? [], ({ shown }) => shown?.poolId);
  const isOpen = machines.length + cloud.hosts.length <= OPEN_MAX;
  const pools = cloud.pools.toSorted(byName).map((pool): Box => {
    const inPool = cloud.hosts.filter(({ poolId }) => poolId === pool.id).toSorted(byName);
    const loose = homeless.get(pool.id) ?? [];
    const inside = [...inPool.flatMap(({ id }) => byHost.get(id) ?? []), ...loose];
    return {
      id: `box-${encodeURIComponent(pool.id.toWellFormed())}`,
      kind: "pool",
      name: pool.name,
      ...(pool.name !== pool.id && { detail: pool.id }),
      ...(!pool.isComplete && { problem: "It is not shown in full: more may be in it" }),
      counts: countMachines(inside),
      ...(inside.length === 0 && { total: "empty" }),
      boxes: inPool.map((host) => toHostBox(host, byHost.get(host.id) ?? [], isOpen)),
      tiles: loose.map(toTile),
      looseTitle: "on no host now",
      isOpen: true,
    };
  });
  const known = new Set<string | undefined>(cloud.pools.map(({ id }) => id));
  const others = [...homeless].flatMap(([poolId, some]) => (known.has(poolId) ? [] : some));
  const nowhere: Box = {
    id: "box-nowhere",
    name: "No known place",
    detail: "The cloud shows neither these machines nor their hosts.",
    counts: [],
    total: formatCount(others.length, "machine"),
    tiles: others.map(toTile),
    isOpen,
  };
  return {
    section: {
      kind: "boxes",
      id: "places",
      title: "Where they are",
      counts: countMachines(machines),
      boxes: [...pools, ...(others.length > 0 ? [nowhere] : [])],
      empty: "This process has no inventory with hosts yet.",
      tables: [toHostTable(cloud)],
    },
    total: all.length,
  };
}

function toHostBox(host: CloudHostView, machines: readonly PlacedMachine[], isOpen: boolean): Box {
  const counts = countMachines(machines);
  return {
    id: `box-host-${encodeURIComponent(host.id.toWellFormed())}`,
    kind: "host",
    name: host.name,
    ...(!host.isEnabled && { flag: { word: "disabled", looksLike: "notReady" } }),
    counts,
    ...(counts.length < 2 && { total: formatCount(machines.length, "machine") }),
    tiles: machines.map(toTile),
    isOpen: isOpen && machines.length > 0,
  };
}

function countMachines(machines: readonly PlacedMachine[]): readonly Count[] {
  return countStates(machines, Object.values(LOOKS), ({ look }) => look);
}

function toTile({
  name,
  look: { name: look, word, looksLike },
  vino,
  machine,
}: PlacedMachine): Tile {
  const title = [machine?.address, machine?.message].filter(Boolean).join(", ");
  const tile = { looksLike, ...(title !== "" && { title }) };
  if (vino === undefined) return { ...tile, name, note: word };
  if (machine === undefined) return { ...tile, name, href: toObjectPath(PATH, vino), note: word };
  const note = [look === "ready" ? "" : word, describeUse(machine)].filter(Boolean).join(" · ");
  const shown = `${vino} ${machine.role}-${machine.index}`;
  return { ...tile, name: shown, href: toMachinePath(vino, machine.name), note };
}

function toHostTable({ pools, hosts, machines }: CloudView): TableSection {
  const names = new Map(pools.map(({ id, name }) => [id, name]));
  const here = Map.groupBy(machines, ({ hostId }) => hostId);
  return {
    kind: "table",
    id: "hosts",
    title: "Hosts",
    columns: ["Pool", "Host", "Enabled", "Machines"],
    rows: hosts.map(({ id, name, poolId, isEnabled }) => ({
      cells: [
        names.get(poolId) ?? poolId,
        name,
        isEnabled ? "yes" : "no",
        String(here.get(id)?.length ?? 0),
      ],
    })),
  };
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return compareNames(a.name, b.name);
}
