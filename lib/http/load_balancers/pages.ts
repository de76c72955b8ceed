/**
 * How load balancers are shown: what Landfall makes for each Service. Pure.
 * @module
 */
import type { KindPages } from "../kind.ts";
import { compareValues } from "../page/differences.ts";
import {
  type Comparison,
  type Fact,
  formatCount,
  keepMatching,
  type KindState,
  type Line,
  type Section,
  type TableSection,
  toWorkStates,
} from "../page/model.ts";
import { toReconcileFacts } from "../page/object_page.tsx";
import { formatSpan, toMs } from "../span.ts";
import { toPoolTable } from "../text_table.ts";
import type {
  LeftoverView,
  LoadBalancerPartView,
  LoadBalancerSource,
  LoadBalancerState,
  LoadBalancerView,
} from "./views.ts";

const STATES: Readonly<Record<LoadBalancerState, KindState>> = toWorkStates({
  failing: "The last attempt failed. Landfall tries again, at least every five minutes.",
  waiting:
    "Something prevents it. Landfall tries again when it changes, and at least every minute.",
  working: "Landfall changes it, or waits for its turn.",
  ready: "It has all that the Service asks for.",
});

/** A cluster may have thousands of Nodes. */
const BACKENDS_MAX = 200;
const LEFTOVERS_MAX = 100;

/** The pages of load balancers. */
export function toLoadBalancerPages(source: LoadBalancerSource): KindPages<LoadBalancerView> {
  return {
    path: "load-balancers",
    title: "Load balancers",
    noun: "load balancer",
    object: "Service",
    json: "loadBalancers",
    empty: "No Service of type LoadBalancer is served by Landfall.",
    layout: "nodes balancers",
    searchLabel: "Service or address",
    unknownToStandby: "the states and parts of load balancers",
    isKnownToLeader: true,
    states: Object.values(STATES),
    judge: ({ state, isLeaving = false }) => {
      const words = STATES[state];
      if (!isLeaving) return words;
      return { ...words, word: `${words.word}, being removed`, isReady: false, isLeaving };
    },
    describe: describeReason,
    listNotes: ({ notReadySince }, nowMs) => {
      const since = formatSpan(nowMs - toMs(notReadySince));
      return since === "" ? [] : [`not ready for ${since}`];
    },
    findLack: ({ addresses, isLeaving = false }) =>
      addresses.length === 0 && !isLeaving ? "no address" : undefined,
    listTexts: ({ addresses }) => addresses,
    columns: [
      { title: "Address", cell: ({ addresses }) => addresses.join(", ") },
      { title: "Ports", cell: ({ ports }) => ports.join(", ") },
      { title: "Backends", cell: describeBackends },
      {
        title: "Not ready",
        isText: true,
        cell: ({ notReadySince }, nowMs) => formatSpan(nowMs - toMs(notReadySince)),
      },
    ],
    list: () => source.list(),
    find: (key) => source.find(key),
    readServing: () => source.readServing(),
    openList: () => {
      const leftovers = source.listLeftovers();
      const pools = source.listPools();
      return Promise.resolve({
        json: {
          ...(leftovers.length > 0 && { leftovers }),
          ...(pools.length > 0 && { pools }),
        },
        end: ({ query }) => {
          const tables = [toLeftoverTable(leftovers), toPoolTable(pools)].map((table) =>
            keepMatching(table, query),
          );
          const count = tables[0]?.rows.length ?? 0;
          const words =
            count === 1
              ? "1 address has no Service"
              : `${count.toLocaleString("en")} addresses have no Service`;
          return { ...(count > 0 && { attention: { words, count: 0 } }), sections: tables };
        },
      });
    },
    openObject: (view, { nowMs }) => Promise.resolve({ sections: listSections(view, nowMs) }),
  };
}

/** Why a load balancer is not ready, in one line; empty if nothing is known. */
function describeWait({ failure = "", waitsFor = "", problems }: LoadBalancerView): string {
  const waiting = problems.find(({ isWaiting = true }) => isWaiting)?.message ?? "";
  return failure || waiting || waitsFor;
}

function describeReason(view: LoadBalancerView): string {
  const [notice] = view.problems;
  return describeWait(view) || (notice === undefined ? "" : `${notice.reason}: ${notice.message}`);
}

function describeBackends({ backends, serving }: LoadBalancerView): string {
  if (backends === undefined) return "not needed";
  const count = backends.length.toLocaleString("en");
  return serving === undefined ? count : `${serving.toLocaleString("en")} of ${count}`;
}

function listSections(view: LoadBalancerView, nowMs: number): readonly Section[] {
  const { problems, parts, steps, lastReconcile: last, failure, waitsFor } = view;
  const since = formatSpan(nowMs - toMs(view.notReadySince));
  const error = failure ?? last?.error;
  // A problem is said above and in its own section.
  const said = problems.find(({ message }) => message === error)?.message;
  const isFree = view.state === "ready" || view.state === "working";
  const work: readonly Fact[] = [
    ["Ready", since === "" ? "yes" : `not for ${since}`],
    ["Waits for", waitsFor ?? (isFree ? "nothing" : undefined)],
    ...toReconcileFacts(last, nowMs, { ...(error && { error }), ...(said && { said }) }),
  ];
  return [
    { kind: "facts", cards: [work, listAsked(view)] },
    {
      kind: "problems",
      id: "problems",
      title: "Problems",
      problems: problems.map(({ reason, message, isWaiting = true }) => ({
        title: reason,
        text: message,
        looksLike: isWaiting ? "notReady" : "foreign",
      })),
    },
    { kind: "comparison", comparisons: listComparisons(parts) },
    { kind: "steps", id: "steps", title: "Next steps", steps },
  ];
}

function listAsked({ addresses, ports, backends, serving }: LoadBalancerView): readonly Fact[] {
  const shown = backends?.slice(0, BACKENDS_MAX).join(", ") ?? "";
  const more = shown !== "" && (backends?.length ?? 0) > BACKENDS_MAX ? ", …" : "";
  const count = formatCount(backends?.length ?? 0, "Node");
  return [
    ["Address", addresses.join(", ") || "none yet"],
    ["Ports", ports.join(", ")],
    [
      "Backends",
      backends === undefined
        ? "not needed: another program announces the address"
        : {
            text: serving === undefined ? count : `${serving.toLocaleString("en")} of ${count}`,
            notes: shown === "" ? [] : [shown + more],
          },
    ],
  ];
}

/** The parts by their kind, in the order in which the kinds come. */
function listComparisons(parts: readonly LoadBalancerPartView[]): readonly Comparison[] {
  if (parts.length === 0) {
    const empty = "This process has not looked at the cloud for it yet.";
    return [{ title: "Parts", lines: [], empty }];
  }
  return [...Map.groupBy(parts, ({ kind }) => kind)].map(([kind, some]) => ({
    title: kind.slice(0, 1).toUpperCase() + kind.slice(1),
    lines: some.map(toLine),
    empty: "",
  }));
}

function toLine({ name, wanted, actual, isUndecided = false }: LoadBalancerPartView): Line {
  const line = compareValues(name, wanted, actual);
  return isUndecided ? { ...line, state: "unknown" } : line;
}

function toLeftoverTable(leftovers: readonly LeftoverView[]): TableSection {
  return {
    kind: "table",
    id: "leftovers",
    title: "Leftovers: addresses of this cluster without a Service",
    intro:
      "Their tags name this cluster, and a Service that does not exist. Landfall does not release them: the Service " +
      "may only be missing after a restore, or this cluster may be a copy. The command landfall check says how to " +
      "release each.",
    columns: ["Leftover", "Address ID", "Service", "Service UID", "Rules", "As of"],
    layout: "nodes leftovers",
    max: LEFTOVERS_MAX,
    rows: leftovers.map(({ ip, id, service = "", serviceUid, rules, asOf }) => ({
      cells: [ip, id, service, serviceUid, rules.toLocaleString("en"), formatTime(asOf)],
    })),
  };
}

/** `2026-01-01 00:09 UTC` */
function formatTime(time: string): string {
  return `${time.slice(0, 16).replace("T", " ")} UTC`;
}
