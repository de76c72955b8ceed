/**
 * The figures at the end of the demo: requests to the cloud and to Kubernetes.
 * @module
 */
import type { KubernetesSimulator } from "../../simulator/kubernetes/mod.ts";
import type { DemoCloud } from "./cloud.ts";

/** What is counted. */
interface Figures {
  readonly cloud: Pick<DemoCloud, "title" | "figures">;
  /** Requests to the cloud, by what each asked. */
  readonly cloudRequests: ReadonlyMap<string, number>;
  /** Number of inventories. */
  readonly passes: number;
  /** Writes to Kubernetes by verb and resource. */
  readonly writes: ReadonlyMap<string, number>;
  /** Number of Nodes in the story. */
  readonly nodes: number;
  /** Duration of the story in milliseconds. */
  readonly durationMs: number;
}

const WRITES: ReadonlySet<string> = new Set(["create", "update", "patch", "delete"]);

/**
 * Counts only the writes of Landfall: a user may use kubectl at the same time.
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

/** Formats the figures as aligned text without a newline at its end. */
export function formatFigures(counted: Figures): string {
  const { cloud, cloudRequests, passes, writes, nodes, durationMs } = counted;
  const { title, figures } = cloud;
  const asked = sum(cloudRequests.values());
  const listed = sum(
    [...cloudRequests].flatMap(([route, n]) => (figures.lists.has(route) ? [n] : [])),
  );
  const seconds = (durationMs / 1_000).toFixed(1);
  const deleted = writes.get("delete nodes") ?? 0;
  const work = `${passes} passes over ${nodes} Nodes`;
  const theirs = figures.requestsPerNode * nodes * passes;
  const rows: Row[] = [
    `Requests to ${title}`,
    ...toRows(cloudRequests),
    [
      "in total",
      asked,
      `${listed} for ${passes} inventories and changes, ${asked - listed} for others`,
    ],
    "",
    "Writes to Kubernetes",
    ...toRows(writes),
    ["in total", sum(writes.values())],
  ];
  return `\
Figures: ${nodes} Nodes, ${deleted} of them deleted, ${seconds} seconds

${alignRows(rows).join("\n")}

An inventory takes ${figures.cost}. By default, Landfall takes one every 30s.
${figures.predecessor} makes ${figures.requestsPerNode} requests for each Node in a pass: ${work} would be ${theirs}.`;
}

/** A heading, or a name, a number and a note. */
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
