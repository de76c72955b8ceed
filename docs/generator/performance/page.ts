/**
 * The page about performance and its charts, from what was measured last.
 * @module
 */
import { toFigureRows } from "../../../bench/budgets.ts";
import { type CurvePoint, listBends, QUANTITIES, toCurveTable } from "../../../bench/curve.ts";
import type { Results } from "../../../bench/results.ts";
import { type Chart, renderChart } from "./chart.ts";
import { renderGoFigures } from "./go_figures.ts";
import { GENERATED_NOTE, toTable } from "../markdown.ts";

interface ChartSpec {
  readonly file: string;
  readonly title: string;
  readonly yTitle: string;
  readonly unit: number;
  readonly keys: readonly (keyof CurvePoint)[];
}

const MIB = 2 ** 20;
const CHARTS: readonly ChartSpec[] = [
  {
    file: "requests.svg",
    title: "Requests until N Nodes are initialised",
    yTitle: "requests",
    unit: 1,
    keys: ["cloudRequests", "requests"],
  },
  {
    file: "bytes.svg",
    title: "Bytes until N Nodes are initialised",
    yTitle: "MiB, both ways",
    unit: MIB,
    keys: ["cloudBytes", "bytes"],
  },
  {
    file: "time.svg",
    title: "Time until N Nodes are initialised",
    yTitle: "seconds",
    unit: 1,
    keys: ["seconds", "cpuSeconds"],
  },
  {
    file: "memory.svg",
    title: "Resident memory with N Nodes",
    yTitle: "MiB",
    unit: 1,
    keys: ["peak", "settled"],
  },
];

/** The page and its charts, by their path in docs/. */
export function renderPerformance(results: Omit<Results, "loads">): ReadonlyMap<string, string> {
  const charts = CHARTS.map((spec): [string, string] => [
    `benchmark/${spec.file}`,
    renderChart(toChart(spec, results.curve)),
  ]);
  return new Map([["explanation/performance.md", renderPage(results)], ...charts]);
}

function toChart({ title, yTitle, unit, keys }: ChartSpec, curve: readonly CurvePoint[]): Chart {
  const series = keys.map((key) => ({
    name: QUANTITIES.find((one) => one.key === key)?.title ?? key,
    points: curve.map((point): [number, number] => [point.nodes, point[key] / unit]),
  }));
  const described = series.map(({ name, points }) => {
    const [first, last] = [points[0], points.at(-1)];
    if (first === undefined || last === undefined) return `${name}: not measured`;
    const [from, to] = [first, last].map(
      ([nodes, value]) => `${toWords(value)} at ${toWords(nodes)} Nodes`,
    );
    return `${name}: from ${from} to ${to}`;
  });
  const description = `${described.join("; ")}. In ${yTitle}; both axes are logarithmic.`;
  return { title, yTitle, xTitle: "Nodes", series, description };
}

function toWords(value: number): string {
  return value.toLocaleString("en", { maximumSignificantDigits: 3 });
}

function renderPage(results: Omit<Results, "loads">): string {
  const { date, machine, figures, curve } = results;
  const rows = toFigureRows(figures).map((row) => [
    row.title.replace(/^ {2}/, "… "),
    row.measured,
    row.goal.replace("<=", "≤"),
    row.verdict === "OVER" ? "**over**" : row.verdict,
  ]);
  const { header, rows: curveRows } = toCurveTable(curve);
  const marked = curveRows.map((row) =>
    row.map((cell) => cell.replace(/([\d.]+) BENDS/, "**$1**")),
  );
  const bends = listBends(curve);
  const images = CHARTS.map(({ file, title }) => `![${title}](../benchmark/${file})\n`).join("\n");
  return `${GENERATED_NOTE}

# What Landfall costs

Measured on ${date}: ${machine}. Each figure is that of the compiled binary with leader election and the HTTPS port, as
it runs in production but for a longer Lease (60 s), so that a busy machine ends no measurement, against a simulated
Kubernetes and a simulated Xen Orchestra in a process of their own on the same machine.
No figure depends on a network. Medians where noise matters: ten starts, three starts on a
full cluster, three initialisations of up to 1,000 Nodes.

Whoever wants to see it: \`npm run build && npm run bench\` (about twelve minutes), \`npm run soak\` (half an hour).

## Against N

Nodes with 8 KiB of status each register all at once with a Landfall that is ready. Counted is everything from the
start of the process until the last Event is written; settled memory is read ${SETTLE} later. In
brackets stands the power of N by which a figure grows from the column before: 0 is constant, 1 is linear, 2 would be
quadratic. Above 1.15 a curve counts as bent, and is marked.

${toTable(header, marked)}
${bends.length === 0 ? "Nothing bends: every figure is linear in N or better." : `What bends: ${bends.join("; ")}.`}

${images}
Both axes of each chart are logarithmic: a straight line is a power of N.

Xen Orchestra is asked for everything at once, so the number of requests does not depend on the number of Nodes, and
their bytes do. Kubernetes is asked for three writes per Node at most: the patch that takes the taint away, the
addresses, and an Event. Bytes with Kubernetes are those of the watch, which shows each Node again after
every change.

## Goals

${toTable(["figure", "measured", "goal", ""], rows)}
A minute of rest is one in which nothing changes. Heartbeats are written by kubelets into the status of their Nodes:
each is a whole Node to read, of which nothing is kept. What is resident with no Nodes at all is mostly the program
itself, read from its file: it is shared between processes of one machine and given up when memory is short. What cannot
be given up is called anonymous.

The goals for few Nodes were set before there was an HTTPS port. An empty program, compiled by Bun and without the JIT
compiler, is resident with 24 MiB; one that has fetched a page, listens on \`node:http\` and holds a TLS context, with
45 MiB. How much of the program's file counts as resident differs by up to 6 MiB with how it came into the page cache.
${figures["denied5000"] === undefined ? "" : DENIED}
${renderGoFigures()}`;
}

const SETTLE = "35 s";
const DENIED = `
\`MemoryDenyWriteExecute=yes\` is what the systemd unit sets. It takes nothing away, since Landfall runs without the JIT
compiler anyway; the figure is there to show that.
`;
