/**
 * What Landfall makes for each Service, for programs, and for operators with a terminal.
 * @module
 */
import type { Context } from "hono";
import type { LeftoverView, LoadBalancerSource, LoadBalancerView } from "./views.ts";
import { formatPools, formatTable } from "../text_table.ts";
import { inPieces, type Pieces, showList } from "../replies.ts";
import { formatSpan, toMs } from "../span.ts";

const TITLES = [
  "NAMESPACE",
  "NAME",
  "STATE",
  "ADDRESS",
  "PORTS",
  "BACKENDS",
  "NOT-READY",
  "LAST",
  "AGO",
  "REASON",
];

const LEFTOVER_TITLES = ["LEFTOVER", "ADDRESS-ID", "SERVICE", "SERVICE-UID", "RULES", "AS-OF"];

/** Replies with all load balancers. */
export function showLoadBalancers(
  context: Context,
  loadBalancers: LoadBalancerSource,
  nowMs: number,
): Promise<Response> {
  const pieces = inPieces(loadBalancers.list());
  const leftovers = loadBalancers.listLeftovers();
  const pools = loadBalancers.listPools();
  const more = {
    ...(leftovers.length > 0 && { leftovers }),
    ...(pools.length > 0 && { pools }),
  };
  const toText = async (): Promise<string> =>
    [
      await formatList(pieces, nowMs),
      ...formatLeftovers(leftovers),
      ...(pools.length > 0 ? [formatPools(pools)] : []),
    ].join("\n");
  return showList(context, { name: "loadBalancers", pieces, more, toText });
}

/** Why a load balancer is not ready, in one line; empty if nothing is known. */
export function describeWait(view: LoadBalancerView): string {
  const { failure = "", waitsFor = "", problems } = view;
  const waiting = problems.find(({ isWaiting = true }) => isWaiting)?.message ?? "";
  return failure || waiting || waitsFor;
}

/** Why a load balancer is not ready, else what is worth knowing about it; in one line. Empty if there is nothing. */
export function describeReason(view: LoadBalancerView): string {
  const [notice] = view.problems;
  return describeWait(view) || (notice === undefined ? "" : `${notice.reason}: ${notice.message}`);
}

async function formatList(pieces: Pieces<LoadBalancerView>, nowMs: number): Promise<string> {
  const rows: string[][] = [];
  for await (const piece of pieces) rows.push(...piece.map((view) => toRow(view, nowMs)));
  return formatTable(TITLES, rows);
}

/** A table, if there are any. */
function formatLeftovers(leftovers: readonly LeftoverView[]): string[] {
  if (leftovers.length === 0) return [];
  const rows = leftovers.map(({ ip, id, service = "", serviceUid, rules, asOf }) => [
    ip,
    id,
    service,
    serviceUid,
    String(rules),
    asOf,
  ]);
  return [formatTable(LEFTOVER_TITLES, rows)];
}

function toRow(view: LoadBalancerView, nowMs: number): string[] {
  const { namespace, name, state, addresses, ports, lastReconcile } = view;
  return [
    namespace,
    name,
    view.isLeaving === true ? `${state}, leaving` : state,
    addresses.join(","),
    ports.join(","),
    toBackends(view),
    formatSpan(nowMs - toMs(view.notReadySince)),
    lastReconcile?.outcome ?? "",
    formatSpan(nowMs - toMs(lastReconcile?.at)),
    describeReason(view),
  ];
}

function toBackends({ backends, serving }: LoadBalancerView): string {
  if (backends === undefined) return "";
  return serving === undefined ? String(backends.length) : `${serving}/${backends.length}`;
}

/** Tables of one load balancer. */
export function formatLoadBalancer(view: LoadBalancerView, nowMs: number): string {
  const tables = [formatTable(TITLES, [toRow(view, nowMs)])];
  const parts = view.parts.map(({ kind, name, wanted = "", actual = "", isUndecided }) => [
    kind,
    name,
    isUndecided === true ? "unknown" : wanted,
    actual,
  ]);
  if (parts.length > 0) tables.push(formatTable(["KIND", "NAME", "WANTED", "ACTUAL"], parts));
  const problems = view.problems.map(({ reason, message }) => [reason, message]);
  if (problems.length > 0) tables.push(formatTable(["PROBLEM", "MESSAGE"], problems));
  const steps = view.steps.map((step, at) => [String(at + 1), step]);
  if (steps.length > 0) tables.push(formatTable(["STEP", "WHAT"], steps));
  const backends = (view.backends ?? []).map((name) => [name]);
  if (backends.length > 0) tables.push(formatTable(["BACKEND"], backends));
  return tables.join("\n");
}
