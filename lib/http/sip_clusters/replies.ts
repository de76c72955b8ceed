/**
 * Which hosts tenants' clusters have, for programs, and for operators with a terminal.
 * @module
 */
import type { Context } from "hono";
import { formatConditions, formatTable } from "../text_table.ts";
import { inPieces, showList, showView } from "../replies.ts";
import { formatSpan, toMs } from "../span.ts";
import type { SipClusterSource, SipClusterView, SipHostView, SipRoleView } from "./views.ts";

const TITLES = ["NAMESPACE", "NAME", "STATE", "HOSTS", "ENDPOINTS", "LAST", "AGO", "REASON"];
const HOST_TITLES = ["NAMESPACE", "HOST", "STATE", "CLUSTER", "ROLE", "CONSUMER", "TROUBLE"];

/** Replies with all clusters and hosts. */
export function showSipClusters(
  context: Context,
  sipClusters: SipClusterSource,
  nowMs: number,
): Promise<Response> {
  const pieces = inPieces(sipClusters.list());
  const hosts = [...sipClusters.listHosts()];
  const toText = async (): Promise<string> => {
    const rows: string[][] = [];
    for await (const piece of pieces) rows.push(...piece.map((view) => toRow(view, nowMs)));
    const { missing } = sipClusters.readServing();
    const notes = missing.map((kind) => `waiting for CustomResourceDefinition ${kind}\n`);
    const tables = [
      formatTable(TITLES, rows),
      formatTable(HOST_TITLES, toTroubledFirst(hosts).map(toHostRow)),
    ];
    return notes.join("") + tables.join("\n");
  };
  return showList(context, { name: "sipclusters", pieces, more: { hosts }, toText });
}

/** Replies with one cluster and its hosts. */
export function showSipCluster(
  context: Context,
  cluster: SipClusterView,
  hosts: readonly SipHostView[],
  nowMs: number,
): Promise<Response> {
  return showView(context, { ...cluster, hosts }, () => formatOne(cluster, hosts, nowMs));
}

/** Why a cluster is not ready, or what to know of it besides, in one line; empty if there is nothing to say. */
export function describeSipCluster(view: SipClusterView): string {
  const { state, conditions, lastReconcile, notes } = view;
  if (state === "ready") return notes.join(". ");
  if (state === "failing" && lastReconcile?.error !== undefined) return lastReconcile.error;
  const wrong = conditions.find(({ type, status }) => type === "Ready" && status !== "True");
  return wrong === undefined ? "" : wrong.message || wrong.reason;
}

/** Whether a cluster has a host with which something is wrong. */
export function isHostTroubled({ cluster, trouble }: SipHostView): boolean {
  return cluster !== undefined && trouble !== undefined;
}

/** The hosts in trouble first, and otherwise in their order. */
export function toTroubledFirst(hosts: readonly SipHostView[]): readonly SipHostView[] {
  return hosts.toSorted((a, b) => Number(isHostTroubled(b)) - Number(isHostTroubled(a)));
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

/** `2 of 3 Worker`. */
function describeRole({ role, have, wanted }: SipRoleView): string {
  return `${have} of ${wanted} ${role}`;
}

/** Why a role does not get all that it asks for: what was refused, by the reason. */
export function describeRejected({ rejected }: SipRoleView): string {
  return rejected.map(({ reason, hosts }) => `${hosts} ${reason}`).join(", ");
}

function toRow(view: SipClusterView, nowMs: number): string[] {
  const { namespace, name, state, roles, endpoints, lastReconcile } = view;
  return [
    namespace,
    name,
    view.isLeaving === true ? `${state}, leaving` : state,
    roles.map(describeRole).join(", "),
    formatNodePorts(endpoints),
    lastReconcile?.outcome ?? "",
    formatSpan(nowMs - toMs(lastReconcile?.at)),
    describeSipCluster(view),
  ];
}

function toHostRow(host: SipHostView): string[] {
  const { namespace, name, state, cluster = "", role = "", consumer = "", trouble = "" } = host;
  const shown = host.standby === true ? `${role}, standby` : role;
  return [namespace, name, state, cluster, shown, consumer, trouble];
}

function formatOne(view: SipClusterView, hosts: readonly SipHostView[], nowMs: number): string {
  const tables = [formatTable(TITLES, [toRow(view, nowMs)])];
  const roles = view.roles.map((role) => [
    role.role,
    String(role.wanted),
    String(role.have),
    String(role.eligible ?? ""),
    describeRejected(role),
  ]);
  tables.push(formatTable(["ROLE", "WANTED", "HAVE", "ELIGIBLE", "REFUSED"], roles));
  tables.push(formatTable(HOST_TITLES, hosts.map(toHostRow)));
  tables.push(formatConditions(view.conditions));
  return tables.join("\n");
}
