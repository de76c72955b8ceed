/**
 * How SIPClusters are shown: which hosts tenants' clusters have, and why not more. Pure.
 * @module
 */
import { describeConditions, type KindPages, toObjectPath } from "../kind.ts";
import {
  type Box,
  type BoxesSection,
  type Cell,
  compareNames,
  countStates,
  type Fact,
  formatCount,
  type KindState,
  type Section,
  type TableSection,
  type Tile,
  toWorkStates,
} from "../page/model.ts";
import { toConditionFacts, toReconcileFacts } from "../page/object_page.tsx";
import { toConditionTable } from "../text_table.ts";
import type {
  SipClusterSource,
  SipClusterState,
  SipClusterView,
  SipHostView,
  SipRoleView,
} from "./views.ts";

const PATH = "sipclusters";

const STATES: Readonly<Record<SipClusterState, KindState>> = toWorkStates({
  failing: "The last attempt failed, or the cluster needs a change, see its conditions.",
  waiting: "There are not enough hosts, or hosts of a deleted cluster are in use.",
  working: "Landfall takes hosts, or waits for the services of the cluster.",
  ready: "It has all that its spec asks for.",
});

type HostStateName = "broken" | "refused" | "given" | "used" | "standby" | "free";

const HOST_STATES: Readonly<Record<HostStateName, KindState>> = {
  broken: {
    name: "broken",
    word: "in trouble",
    meaning: "A cluster has it, and something is wrong with it.",
    looksLike: "failing",
  },
  refused: {
    name: "refused",
    word: "refused",
    meaning: "No cluster has it, and none may take it now.",
    looksLike: "notReady",
  },
  given: {
    name: "given",
    word: "taken",
    meaning: "A cluster has it, and nothing runs on it yet.",
    looksLike: "joining",
  },
  used: {
    name: "used",
    word: "in use",
    meaning: "A cluster has it, and a machine uses it.",
    looksLike: "well",
  },
  standby: {
    name: "standby",
    word: "standby",
    meaning: "A cluster has it as a spare host.",
    looksLike: "stopped",
  },
  free: { name: "free", word: "free", meaning: "A cluster may take it.", looksLike: "foreign" },
};

const TROUBLED_MAX = 50;
/** There may be thousands of hosts. */
const REFUSED_MAX = 200;
/** With more hosts than this in total, the boxes are closed at first. */
const OPEN_HOSTS_MAX = 300;
/** Longest key of a label, with its prefix. */
const KEY_LENGTH_MAX = 317;

/** The pages of SIPClusters. */
export function toSipClusterPages(source: SipClusterSource): KindPages<SipClusterView> {
  return {
    path: PATH,
    title: "SIPClusters",
    noun: "SIPCluster",
    object: "SIPCluster",
    json: "sipclusters",
    empty: "Create a SIPCluster, and Landfall chooses hosts for it.",
    layout: "nodes sips",
    searchLabel: "SIPCluster or host",
    unknownToStandby: "why hosts were refused",
    states: Object.values(STATES),
    judge: (view) => {
      const words = toWords(view);
      if (view.isLeaving !== true) return words;
      return { ...words, word: `${words.word}, being deleted`, isReady: false, isLeaving: true };
    },
    describe: describeSipCluster,
    columns: [
      { title: "Hosts", cell: ({ roles }) => toRolesCell(roles) },
      { title: "Node ports", cell: ({ endpoints }) => formatNodePorts(endpoints) },
    ],
    list: () => source.list(),
    find: (key) => source.find(key),
    readServing: () => source.readServing(),
    openList: () => {
      const hosts = [...source.listHosts()];
      const keys = new Set<string>();
      return Promise.resolve({
        json: { hosts },
        note: ({ topologyKeys }) => {
          for (const key of topologyKeys) keys.add(key);
        },
        end: ({ query, context }) => {
          const found = hosts.filter((host) => mentions(host, query));
          const troubled = found.filter(isHostTroubled);
          const count = troubled.length;
          const words = `${formatCount(count, "host")} ${count === 1 ? "is" : "are"} in trouble`;
          const by = (context.req.query("by") ?? "").slice(0, KEY_LENGTH_MAX);
          return {
            subtitle: formatCount(hosts.length, "host"),
            ...(count > 0 && { attention: { words, count } }),
            sections: [toTroubledTable(troubled), toRacks(found, sortKeys(keys, hosts), by)],
            size: hosts.length,
          };
        },
      });
    },
    openObject: (view, { nowMs }) => {
      const key = `${view.namespace}/${view.name}`;
      const hosts = [...source.listHosts()].filter(({ cluster }) => cluster === key);
      return Promise.resolve({ json: { hosts }, sections: listSections(view, hosts, nowMs) });
    },
  };
}

/** How a cluster looks. One that is ready, and of which there is more to say, does not look well. */
function toWords({ state, notes }: SipClusterView): KindState {
  const words = STATES[state];
  if (notes.length === 0) return words;
  return { ...words, isTrouble: true, ...(state === "ready" && { looksLike: "differs" }) };
}

function describeSipCluster(view: SipClusterView): string {
  if (view.state === "ready") return view.notes.join(". ");
  const isFailing = view.state === "failing";
  return describeConditions(isFailing ? view : { ...view, lastReconcile: null });
}

function judgeHost({ cluster, trouble, consumer, standby }: SipHostView): KindState {
  if (cluster === undefined) return HOST_STATES[trouble === undefined ? "free" : "refused"];
  if (trouble !== undefined) return HOST_STATES.broken;
  if (consumer !== undefined) return HOST_STATES.used;
  return HOST_STATES[standby === true ? "standby" : "given"];
}

function countHosts(hosts: readonly SipHostView[]): ReturnType<typeof countStates> {
  return countStates(hosts, Object.values(HOST_STATES), judgeHost);
}

/** Whether a cluster has a host with which something is wrong. */
function isHostTroubled({ cluster, trouble }: SipHostView): boolean {
  return cluster !== undefined && trouble !== undefined;
}

function toTroubledFirst(hosts: readonly SipHostView[]): readonly SipHostView[] {
  return hosts.toSorted(
    (a, b) => Number(isHostTroubled(b)) - Number(isHostTroubled(a)) || compareNames(a.name, b.name),
  );
}

function mentions({ namespace, name, cluster = "", consumer = "" }: SipHostView, text: string) {
  return [`${namespace}/${name}`, cluster, consumer].some((one) =>
    one.toLowerCase().includes(text),
  );
}

/** Node ports in their order, a range in short: `30001, 30010-30020`. */
export function formatNodePorts(endpoints: SipClusterView["endpoints"]): string {
  const ports = [...new Set(endpoints.map(({ nodePort }) => nodePort))].toSorted((a, b) => a - b);
  const ranges: { readonly start: number; end: number }[] = [];
  for (const port of ports) {
    const last = ranges.at(-1);
    if (last?.end === port - 1) last.end = port;
    else ranges.push({ start: port, end: port });
  }
  return ranges
    .map(({ start, end }) => (start === end ? `${start}` : `${start}-${end}`))
    .join(", ");
}

/** `2 of 3 Worker`, and why not more. */
function toRolesCell(roles: readonly SipRoleView[]): Cell {
  const rejected = roles.filter(({ have, wanted }) => have < wanted).map(describeRejected);
  const why = rejected.filter(Boolean).map((text) => `refused: ${text}`);
  const text = roles.map(({ role, have, wanted }) => `${have} of ${wanted} ${role}`).join(", ");
  return { text, notes: why };
}

/** Why a role does not get all that it asks for: what was refused, by the reason. */
function describeRejected({ rejected }: SipRoleView): string {
  return rejected.map(({ reason, hosts }) => `${hosts} ${reason}`).join(", ");
}

function toTroubledTable(hosts: readonly SipHostView[]): TableSection {
  return {
    kind: "table",
    id: "troubled",
    title: "Hosts in trouble",
    columns: ["Host", "Trouble", "SIPCluster"],
    max: TROUBLED_MAX,
    rows: hosts.map(({ namespace, name, cluster = "", trouble = "" }) => ({
      cells: [
        `${namespace}/${name}`,
        trouble,
        { text: cluster, href: toObjectPath(PATH, cluster) },
      ],
    })),
  };
}

/** Labels by which clusters spread their hosts, the one with the fewest values among the hosts first. */
function sortKeys(keys: ReadonlySet<string>, hosts: readonly SipHostView[]): readonly string[] {
  const countValues = (key: string): number => new Set(hosts.map(({ places }) => places[key])).size;
  return [...keys].toSorted().toSorted((a, b) => countValues(a) - countValues(b));
}

/** The hosts by the value of a label, in order of the values; those without it come last. */
function toRacks(
  hosts: readonly SipHostView[],
  keys: readonly string[],
  wanted: string,
): BoxesSection {
  const by = keys.includes(wanted) ? wanted : keys[0];
  const byName = Map.groupBy(hosts, ({ places }) => (by === undefined ? undefined : places[by]));
  const names = [...byName.keys()].filter((name) => name !== undefined).toSorted(compareNames);
  const kind = by?.split("/").at(-1) ?? "";
  const isOpen = hosts.length <= OPEN_HOSTS_MAX;
  const toBox = (name: string | undefined, inside: readonly SipHostView[]): Box => ({
    id: `rack-${encodeURIComponent((name ?? "").toWellFormed())}`,
    ...(name !== undefined && { kind }),
    name: name ?? (kind === "" ? "All hosts" : `No ${kind}`),
    counts: countHosts(inside),
    tiles: toTroubledFirst(inside).map(toTile),
    isOpen,
  });
  const others = byName.get(undefined) ?? [];
  return {
    kind: "boxes",
    id: "hosts",
    title: "Hosts",
    counts: countHosts(hosts),
    isGrid: true,
    choices: keys.map((key) => ({
      text: `by ${key}`,
      href: `${PATH}?by=${encodeURIComponent(key)}`,
      isCurrent: key === by,
    })),
    boxes: [
      ...names.map((name) => toBox(name, byName.get(name) ?? [])),
      ...(others.length > 0 ? [toBox(undefined, others)] : []),
    ],
    empty: "There are no BareMetalHosts here.",
    tables: [
      {
        kind: "table",
        id: "hosts",
        title: "Hosts",
        columns: ["Host", "State", "SIPCluster", "Role", "Used by", "Trouble"],
        rows: toTroubledFirst(hosts).map((host) => {
          const { namespace, name, state, cluster = "", consumer = "", trouble = "" } = host;
          return {
            cells: [`${namespace}/${name}`, state, cluster, toRole(host), consumer, trouble],
          };
        }),
      },
    ],
  };
}

function toRole({ role = "", standby }: SipHostView): string {
  return standby === true ? `${role}, standby` : role;
}

function toTile(host: SipHostView): Tile {
  const { name, cluster, role = "", trouble, state, consumer } = host;
  const { name: judged, word, looksLike } = judgeHost(host);
  const title = [state, consumer, trouble].filter(Boolean).join(", ");
  const tile = { name, looksLike, title };
  if (cluster === undefined) return trouble === undefined ? tile : { ...tile, note: trouble };
  const shown = judged === "used" ? role : `${role}, ${trouble ?? word}`;
  return { ...tile, href: toObjectPath(PATH, cluster), note: `${cluster} · ${shown}` };
}

function listSections(
  view: SipClusterView,
  hosts: readonly SipHostView[],
  nowMs: number,
): readonly Section[] {
  const { roles, breaches, conditions, endpoints } = view;
  const ports = [...Map.groupBy(endpoints, ({ service }) => service)];
  const said = describeSipCluster(view);
  const work: readonly Fact[] = [
    ...toReconcileFacts(view.lastReconcile, nowMs, { said }),
    ...ports.map(([service, some]): Fact => [
      service,
      `node ${some.length === 1 ? "port" : "ports"} ${formatNodePorts(some)}`,
    ]),
  ];
  return [
    { kind: "facts", cards: [work, toConditionFacts(conditions, said)] },
    {
      kind: "table",
      id: "roles",
      title: "What it asks for, and gets",
      columns: ["Role", "Wanted", "Has", "Free and fit", "Refused"],
      rows: roles.map((role) => ({
        cells: [
          role.role,
          String(role.wanted),
          String(role.have),
          String(role.eligible ?? ""),
          describeRejected(role),
        ],
        isWrong: role.have !== role.wanted,
      })),
    },
    {
      kind: "table",
      id: "refused",
      title: "Why not the other hosts",
      columns: ["Host", "Role", "Refused because"],
      max: REFUSED_MAX,
      rest: "The JSON has all.",
      rows: roles.flatMap(({ role, refused }) =>
        refused.map(({ host, reason }) => ({ cells: [host, role, reason] })),
      ),
    },
    {
      kind: "problems",
      id: "breaches",
      title: "Hosts in the same place",
      problems: breaches.map(({ topologyKey, value, hosts: same }) => ({
        title: `${topologyKey}: ${value}`,
        text: same.join(", "),
        looksLike: "differs",
      })),
    },
    {
      kind: "table",
      id: "hosts",
      title: "Hosts",
      columns: ["Host", "State", "Role", "Where", "Used by"],
      rows: hosts.map((host) => toHostRow(host, view.topologyKeys)),
    },
    { kind: "text", tables: [toConditionTable(conditions)] },
  ];
}

function toHostRow(host: SipHostView, keys: readonly string[]): TableSection["rows"][number] {
  const { namespace, name, consumer = "", trouble, places, state } = host;
  const where = keys.flatMap((key) => {
    const value = places[key];
    return value === undefined ? [] : [`${key.split("/").at(-1)} ${value}`];
  });
  const { word, looksLike } = judgeHost(host);
  return {
    cells: [
      `${namespace}/${name}`,
      { text: word, looksLike, notes: [trouble ?? state].filter(Boolean) },
      toRole(host),
      where.join(", "),
      consumer,
    ],
  };
}
