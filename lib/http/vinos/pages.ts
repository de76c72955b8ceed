/**
 * How Vinos are shown: which machines they have in the cloud, and where. Pure.
 * @module
 */
import { describeConditions, type KindPages, toObjectPath } from "../kind.ts";
import { compareValues } from "../page/differences.ts";
import {
  compareNames,
  type Comparison,
  type ComparisonSection,
  formatCount,
  keepMatching,
  type KindState,
  type Row,
  type Section,
  type TableSection,
  toWorkStates,
} from "../page/model.ts";
import { toConditionFacts, toReconcileFacts } from "../page/object_page.tsx";
import { toConditionTable, toPoolTable } from "../text_table.ts";
import { describeUse, findHostId, judgeMachine, toMachinePath, toPlaceBoxes } from "./places.ts";
import type {
  CloudMachineView,
  CloudView,
  VinoMachineView,
  VinoSource,
  VinoState,
  VinoView,
} from "./views.ts";

const PATH = "vinos";

const { failing, waiting, working, ready } = toWorkStates({
  failing: "The last attempt failed, or a person must decide, see its conditions.",
  waiting: "The cloud does not say enough, or hosts that must go are in use, see its conditions.",
  working: "Landfall makes machines, or waits for the cloud.",
  ready: "It has all that its spec asks for.",
});
const STATES: Readonly<Record<VinoState, KindState>> = {
  failing,
  waiting,
  deleting: {
    name: "deleting",
    word: "being deleted",
    meaning: "Landfall removes its hosts, and the machines that must go.",
    looksLike: "outOfService",
  },
  working,
  ready,
};

/** More rows are not useful. */
const ROWS_MAX = 500;
const STRAYS_MAX = 100;
/** Machines with more than this are too many to compare all of them. */
const COMPARED_MAX = 30;
/** Longer than the name of any machine. */
const NAME_LENGTH_MAX = 100;

/** Before the first inventory. */
const EMPTY: CloudView = { pools: [], hosts: [], machines: [] };

/** The pages of Vinos. */
export function toVinoPages(source: VinoSource): KindPages<VinoView> {
  return {
    path: PATH,
    title: "Vinos",
    noun: "Vino",
    object: "Vino",
    json: "vinos",
    empty: "Create a Vino, and Landfall makes its machines.",
    layout: "nodes sips",
    searchLabel: "Vino or machine",
    unknownToStandby: "what each part of a machine should be",
    states: Object.values(STATES),
    judge: ({ state }) => ({ ...STATES[state], isLeaving: state === "deleting" }),
    describe: describeVino,
    listTexts: ({ machines }) => machines.map(({ name }) => name),
    columns: [
      { title: "Machines", cell: describeMachines },
      { title: "BareMetalHosts", cell: describeHosts },
    ],
    list: () => source.list(),
    find: (key) => source.find(key),
    readServing: () => source.readServing(),
    openList: async (signal) => {
      const cloud = (await source.readCloud(signal)) ?? EMPTY;
      const strays = cloud.machines.filter(({ vino }) => vino === undefined);
      const pools = source.listPools();
      const vinos: VinoView[] = [];
      return {
        json: { hosts: cloud.hosts, machinesWithoutVino: strays, pools },
        note: (view) => void vinos.push(view),
        end: ({ query }) => {
          const places = toPlaceBoxes(vinos, cloud, query);
          return {
            subtitle: `${formatCount(places.total, "machine")} on ${formatCount(cloud.hosts.length, "host")}`,
            sections: [
              {
                ...places.section,
                tables: [
                  ...places.section.tables,
                  ...vinos.map((view) => toMachineTable(view, view.machines, cloud)),
                ],
              },
              keepMatching(toStrayTable(strays, cloud), query),
              keepMatching(toPoolTable(pools), query),
            ],
            size: places.total,
          };
        },
      };
    },
    openObject: async (view, { nowMs, context }) => {
      const cloud = (await source.readCloud(context.req.raw.signal)) ?? EMPTY;
      const machine = (context.req.query("machine") ?? "").slice(0, NAME_LENGTH_MAX);
      const key = `${view.namespace}/${view.name}`;
      return {
        json: { shown: cloud.machines.filter(({ vino }) => vino === key) },
        sections: listSections(view, { cloud, machine, nowMs }),
      };
    },
  };
}

/** Why a Vino is not ready, in one line; empty if it is or nothing is known. */
function describeVino(view: VinoView): string {
  if (view.state === "ready") return "";
  return describeConditions(view.state === "failing" ? view : { ...view, lastReconcile: null });
}

function describeMachines({ ready, wanted, machines }: VinoView): {
  text: string;
  notes: string[];
} {
  const kept = machines.filter(({ isWanted }) => !isWanted).length;
  return {
    text: describeReady({ ready, wanted }),
    notes: kept === 0 ? [] : [`${formatCount(kept, "machine")} not wanted any more`],
  };
}

function describeReady({ ready, wanted }: Pick<VinoView, "ready" | "wanted">): string {
  return `${ready.toLocaleString("en")} of ${wanted.toLocaleString("en")} ready`;
}

function describeHosts({ machines }: VinoView): string {
  const hosts = machines.filter(({ bareMetalHost }) => bareMetalHost !== undefined);
  const used = hosts.filter((machine) => describeUse(machine) !== "").length;
  const words = `${hosts.length.toLocaleString("en")}, ${used.toLocaleString("en")} in use`;
  return hosts.length === 0 ? "" : words;
}

/** What the page of a Vino is about. */
interface Shown {
  readonly cloud: CloudView;
  /** Name of the only machine to show. Empty: all. */
  readonly machine: string;
  readonly nowMs: number;
}

function listSections(view: VinoView, { cloud, machine, nowMs }: Shown): readonly Section[] {
  const { machines, conditions } = view;
  const chosen = machines.filter(({ name }) => machine === "" || name === machine);
  const table = toMachineTable(view, chosen, cloud);
  const isOne = machine !== "";
  const said = describeVino(view);
  return [
    {
      kind: "facts",
      cards: [
        [
          ["Machines", describeReady(view)],
          ["BareMetalHosts", describeHosts(view) || "none yet"],
          ...toReconcileFacts(view.lastReconcile, nowMs, { said }),
        ],
        toConditionFacts(conditions, said),
      ],
    },
    isOne ? { ...table, ...toLinkBack(view, chosen) } : table,
    compareMachines(chosen),
    { kind: "text", tables: [toConditionTable(conditions)] },
  ];
}

/** Of a page about one machine. */
function toLinkBack(
  { namespace, name }: VinoView,
  chosen: readonly VinoMachineView[],
): Pick<TableSection, "link" | "title"> {
  return {
    title: chosen.length === 0 ? "It has no such machine" : "One of its machines",
    link: { text: "All machines of this Vino", href: toObjectPath(PATH, `${namespace}/${name}`) },
  };
}

/** Where each machine is, what it waits for, and what uses its BareMetalHost. */
function toMachineTable(
  view: VinoView,
  machines: readonly VinoMachineView[],
  cloud: CloudView,
): TableSection {
  // The cloud may show no hosts, for example while xo-server starts.
  const hosts = new Map([
    ...machines.map(({ host = "", hostDisplayName = host }) => [host, hostDisplayName] as const),
    ...cloud.hosts.map(({ id, name }) => [id, name] as const),
  ]);
  const shown = new Map(cloud.machines.map((one) => [one.name, one]));
  const likes = findLikes(machines);
  return {
    kind: "table",
    id: "machines",
    title: "Machines",
    columns: ["Machine", "State", "Host", "Address", "BareMetalHost", "Used by"],
    layout: "nodes machines",
    max: ROWS_MAX,
    rest: "The JSON has all.",
    rows: machines.map((machine) =>
      toMachineRow(machine, { view, hosts, shown: shown.get(machine.name), likes }),
    ),
  };
}

interface MachineFacts {
  readonly view: VinoView;
  /** Names by ID. */
  readonly hosts: ReadonlyMap<string, string>;
  readonly shown: CloudMachineView | undefined;
  readonly likes: ReadonlyMap<string, string>;
}

function toMachineRow(machine: VinoMachineView, { view, hosts, shown, likes }: MachineFacts): Row {
  const { name, message, machineId, host = "", hostName, bareMetalHost, provisioning } = machine;
  const { namespace } = view;
  const hostId = findHostId({ machine, ...(shown && { shown }) }) ?? "";
  const { word, looksLike } = judgeMachine(machine, shown);
  const like = likes.get(name);
  const published = [bareMetalHost, provisioning].filter((one) => one !== undefined).join(", ");
  return {
    cells: [
      {
        text: name,
        href: toMachinePath(`${namespace}/${view.name}`, name),
        notes: machineId === undefined ? [] : [machineId],
      },
      {
        text: word,
        looksLike,
        notes: message === undefined ? [] : [like === undefined ? message : `the same as ${like}`],
      },
      {
        text: hosts.get(hostId) ?? hostId,
        notes: [
          ...(host !== "" && hostId !== host ? [`made for ${hosts.get(host) ?? host}`] : []),
          ...(shown === undefined ? [] : [shown.power]),
        ],
      },
      machine.address ?? "",
      bareMetalHost === undefined
        ? ""
        : {
            text: hostName === undefined ? "" : `${namespace}/${hostName}`,
            notes: published === "" ? [] : [published],
          },
      describeUse(machine),
    ],
  };
}

/** By machine that waits for the same as one above it, the name of that one. */
function findLikes(machines: readonly VinoMachineView[]): ReadonlyMap<string, string> {
  const groups = Map.groupBy(machines, ({ name, message = "" }) => message.replaceAll(name, ""));
  groups.delete("");
  const pairs = [...groups.values()].flatMap(([first, ...others]) =>
    others.map(({ name }) => [name, first?.name ?? ""] as const),
  );
  return new Map(pairs);
}

/** What each machine should be beside what it is: first those that differ. */
function compareMachines(machines: readonly VinoMachineView[]): ComparisonSection {
  const known = machines.filter(({ parts }) => parts.length > 0);
  const sorted = known.toSorted((a, b) => Number(isDifferent(b)) - Number(isDifferent(a)));
  const rest = `These are ${COMPARED_MAX} of ${known.length} machines. Click another one above to compare it.`;
  return {
    kind: "comparison",
    isFolded: true,
    comparisons: sorted.slice(0, COMPARED_MAX).map(toComparison),
    ...(known.length > COMPARED_MAX && { rest }),
  };
}

function toComparison({ name: title, parts, isWanted }: VinoMachineView): Comparison {
  const lines = parts.map(({ name, wanted, actual }) => {
    const line = compareValues(name, wanted, actual);
    return line.state === "extra" && !isWanted ? { ...line, state: "unknown" as const } : line;
  });
  return { title, lines, empty: "" };
}

function isDifferent({ parts }: VinoMachineView): boolean {
  return parts.some(({ wanted, actual }) => wanted !== actual);
}

function toStrayTable(strays: readonly CloudMachineView[], { hosts }: CloudView): TableSection {
  const names = new Map(hosts.map(({ id, name }) => [id, name]));
  return {
    kind: "table",
    id: "strays",
    title: "Machines without a Vino",
    intro:
      "A Vino made them that is not in this cluster: it was deleted and kept its machines, or it is in another " +
      "cluster. Landfall does not change them.",
    columns: ["Machine without Vino", "ID", "Host", "Power"],
    max: STRAYS_MAX,
    rows: strays
      .toSorted((a, b) => compareNames(a.name, b.name))
      .map(({ name, id, hostId = "", power }) => ({
        cells: [name, id, names.get(hostId) ?? hostId, power],
      })),
  };
}
