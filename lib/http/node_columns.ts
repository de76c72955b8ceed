/**
 * The columns of a table of Nodes: `/debug/nodes?format=text` and `landfall nodes` show them.
 * @module
 */
import { nameDeletion, nameMatch, nameReason } from "./node_words.ts";
import { formatSpan, toMs } from "./span.ts";
import type { NodeView } from "./views.ts";

/** One column. */
interface NodeColumn {
  readonly title: string;
  /** Whether narrow tables leave it out. */
  readonly isWide?: boolean;
  /** Text of a cell; empty without a value. @param nowMs Wall-clock milliseconds */
  readonly format: (node: NodeView, nowMs: number) => string;
}

const ZONE = "topology.kubernetes.io/zone";

/** In the order of the table. */
export const NODE_COLUMNS: readonly NodeColumn[] = [
  { title: "NAME", format: ({ name }) => name },
  { title: "READY", format: ({ ready }) => ready },
  { title: "PRESENCE", format: ({ presence }) => presence.kind },
  { title: "REASON", format: ({ presence }) => nameReason(presence.reason ?? "") },
  { title: "MATCHED-BY", isWide: true, format: ({ matchedBy }) => nameMatch(matchedBy ?? "") },
  { title: "INSTANCE", isWide: true, format: ({ instance }) => instance?.name ?? "" },
  { title: "STATE", format: ({ instance }) => instance?.state ?? "" },
  { title: "ADDRESS", format: findAddress },
  { title: "HOST", format: (node) => findPlace(node, "host") },
  { title: "ZONE", format: findZone },
  { title: "PROVIDER-ID", isWide: true, format: ({ providerId }) => providerId ?? "" },
  { title: "DELETION", isWide: true, format: ({ deletion }) => nameDeletion(deletion) },
  {
    title: "LAST",
    isWide: true,
    format: ({ lastReconcile }) => lastReconcile?.outcome ?? "",
  },
  {
    title: "AGO",
    isWide: true,
    format: ({ lastReconcile }, nowMs) => formatSpan(nowMs - toMs(lastReconcile?.at)),
  },
  {
    title: "NEXT",
    isWide: true,
    format: ({ nextReconcileAt }, nowMs) => formatSpan(toMs(nextReconcileAt) - nowMs),
  },
  { title: "ERROR", isWide: true, format: ({ lastReconcile }) => lastReconcile?.error ?? "" },
];

/** The zone label of the Node, else the desired one. */
export function findZone({ labels: { actual, wanted } }: NodeView): string {
  return actual[ZONE] ?? wanted?.[ZONE] ?? "";
}

/** Name or ID of the place of this kind that holds the machine; empty if there is none. */
export function findPlace({ places = [] }: NodeView, kind: string): string {
  const place = places.find((one) => one.kind === kind);
  return place?.name ?? place?.id ?? "";
}

/** The address that other Nodes use: the first internal one, else the first external one. */
function findAddress({ addresses: { actual } }: NodeView): string {
  const of = (type: string): string | undefined => actual.find((one) => one.type === type)?.address;
  return of("InternalIP") ?? of("ExternalIP") ?? "";
}
