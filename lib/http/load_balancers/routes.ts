/**
 * `/debug/load-balancers`: what Landfall makes for each Service, for operators with a terminal.
 * @module
 */
import { Hono } from "hono";
import type { LeftoverView, LoadBalancerSource, LoadBalancerView } from "./views.ts";
import { formatPools } from "../common_tables.ts";
import { inPieces, type Pieces, showList, showMissing, showView } from "../replies.ts";
import { formatSpan, toMs } from "../span.ts";
import { formatTable } from "../text_table.ts";

/** The sources of the pages. */
interface LoadBalancerPagesOptions {
  readonly loadBalancers: LoadBalancerSource;
  /** Wall-clock milliseconds. */
  now(): number;
}

/** The path of the list. That of one is below it, with the namespace and the name of the Service. */
export const LOAD_BALANCERS_PATH = "/debug/load-balancers";

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

/** Routes of the list and of each load balancer. Like those of Nodes, they check no access. */
export function createLoadBalancerRoutes({ loadBalancers, now }: LoadBalancerPagesOptions): Hono {
  const routes = new Hono();
  routes.get(LOAD_BALANCERS_PATH, (context) => {
    const pieces = inPieces(loadBalancers.list());
    const leftovers = loadBalancers.listLeftovers();
    const pools = loadBalancers.listPools();
    const more = {
      ...(leftovers.length > 0 && { leftovers }),
      ...(pools.length > 0 && { pools }),
    };
    const toText = async (): Promise<string> =>
      [
        await formatList(pieces, now()),
        ...formatLeftovers(leftovers),
        ...(pools.length > 0 ? [formatPools(pools)] : []),
      ].join("\n");
    return showList(context, { name: "loadBalancers", pieces, more, toText });
  });
  routes.get(`${LOAD_BALANCERS_PATH}/:namespace/:name`, async (context) => {
    const key = `${context.req.param("namespace")}/${context.req.param("name")}`;
    const view = loadBalancers.find(key);
    if (view !== undefined) return await showView(context, view, () => formatOne(view, now()));
    return await showMissing(context, `there is no load balancer of ${JSON.stringify(key)}`);
  });
  return routes;
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

function formatOne(view: LoadBalancerView, nowMs: number): string {
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
