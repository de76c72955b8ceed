/**
 * The page of figures at the end of the demo: what was asked of the cloud and of Kubernetes.
 * @module
 */
import type { KubernetesSimulator } from "../../simulator/kubernetes/mod.ts";
import type { XenOrchestraSimulator } from "../../simulator/xenorchestra/mod.ts";

/** What the page is made of. */
export interface Figures {
  /** Requests to Xen Orchestra by route. */
  readonly cloudRequests: ReadonlyMap<string, number>;
  /** Inventories taken. */
  readonly passes: number;
  /** Writes to Kubernetes by verb and resource. */
  readonly writes: ReadonlyMap<string, number>;
  /** Nodes that the story had. */
  readonly nodes: number;
  /** How long it took, in milliseconds. */
  readonly durationMs: number;
}

/** Lists that one inventory asks for, whatever the number of Nodes: VMs, hosts, pools. */
const LISTS: ReadonlySet<string> = new Set(["GET /vms", "GET /hosts", "GET /pools"]);
/** The Go controller reads VM, host and pool of one Node at a time, in each of its passes. */
const GO_REQUESTS_PER_NODE = 3;
const WRITES: ReadonlySet<string> = new Set(["create", "update", "patch", "delete"]);

/**
 * Counts what Landfall wrote, and nobody else: a person may be there with kubectl.
 *
 * @returns By verb and resource, `patch nodes/status`
 */
export function countWrites(requests: KubernetesSimulator["requests"]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { verb, resource, userAgent } of requests.entries) {
    const isOurs = userAgent.startsWith("landfall/") && resource !== "";
    if (!WRITES.has(verb) || !isOurs) continue;
    const kind = `${verb} ${resource}`;
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return counts;
}

/** Copies the counts of a simulated Xen Orchestra: they go on while the demo stays up. */
export function countCloudRequests(
  requests: XenOrchestraSimulator["requests"],
): Map<string, number> {
  return new Map(requests.byRoute);
}

/** Formats the page, in aligned plain text without a newline at its end. */
export function formatFigures(figures: Figures): string {
  const { cloudRequests, passes, writes, nodes, durationMs } = figures;
  const asked = sum(cloudRequests.values());
  const listed = sum([...cloudRequests].flatMap(([route, n]) => (LISTS.has(route) ? [n] : [])));
  const seconds = (durationMs / 1_000).toFixed(1);
  const deleted = writes.get("delete nodes") ?? 0;
  const goPasses = `${passes} passes over ${nodes} Nodes`;
  const goAsked = GO_REQUESTS_PER_NODE * nodes * passes;
  const rows: Row[] = [
    "Asked of Xen Orchestra",
    ...toRows(cloudRequests),
    [
      "in total",
      asked,
      `${listed} for ${passes} inventories and changes, ${asked - listed} for others`,
    ],
    "",
    "Written to Kubernetes",
    ...toRows(writes),
    ["in total", sum(writes.values())],
  ];
  return `\
Figures: ${nodes} Nodes, ${deleted} of them deleted, ${seconds} seconds

${alignRows(rows).join("\n")}

An inventory is ${LISTS.size} requests, however many Nodes there are; by default, one is taken every 30s.
The Go controller makes ${GO_REQUESTS_PER_NODE} requests for each Node in a pass: ${goPasses} would be ${goAsked}.`;
}

/** A heading, or a name, a number and a remark. */
type Row = string | readonly [name: string, count: number, remark?: string];

function toRows(counts: ReadonlyMap<string, number>): Row[] {
  return [...counts].toSorted(([one], [other]) => (one < other ? -1 : 1));
}

function alignRows(rows: readonly Row[]): string[] {
  const cells = rows.filter((row) => typeof row !== "string");
  const nameWidth = Math.max(...cells.map(([name]) => name.length));
  const countWidth = Math.max(...cells.map(([, count]) => String(count).length));
  return rows.map((row) => {
    if (typeof row === "string") return row === "" ? "" : `  ${row}`;
    const [name, count, remark] = row;
    const line = `    ${name.padEnd(nameWidth)}  ${String(count).padStart(countWidth)}`;
    return remark === undefined ? line : `${line}   ${remark}`;
  });
}

function sum(numbers: Iterable<number>): number {
  let total = 0;
  for (const number of numbers) total += number;
  return total;
}
