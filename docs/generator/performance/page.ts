/**
 * The page about performance and its charts, from what was measured last.
 * @module
 */
import { toFigureRows } from "../../../bench/budgets.ts";
import { type CurvePoint, listBends, QUANTITIES, toCurveTable } from "../../../bench/curve.ts";
import { CLOUD_NAMES, type CloudName, CLOUDS } from "../../../bench/clouds/mod.ts";
import type { Results } from "../../../bench/results.ts";
import { type Chart, renderChart } from "./chart.ts";
import { renderGoFigures } from "./go_figures.ts";
import { GENERATED_NOTE, toTable } from "../markdown.ts";

type PageResults = Readonly<Record<CloudName, Results>>;

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
export function renderPerformance(results: PageResults): ReadonlyMap<string, string> {
  const measured = CLOUD_NAMES.filter((cloud) => Object.keys(results[cloud].runs).length > 0);
  const charts = measured.flatMap((cloud) =>
    CHARTS.map((spec): [string, string] => [
      `benchmark/${toFile(spec, cloud)}`,
      renderChart(toChart(spec, cloud, results[cloud].curve)),
    ]),
  );
  return new Map([["explanation/performance.md", renderPage(results, measured)], ...charts]);
}

function toFile({ file }: ChartSpec, cloud: CloudName): string {
  return cloud === "xenorchestra" ? file : `${cloud}-${file}`;
}

function toChart(
  { yTitle, unit, keys, ...spec }: ChartSpec,
  cloud: CloudName,
  curve: readonly CurvePoint[],
): Chart {
  const title = `${CLOUDS[cloud].title}: ${toStart(spec.title)}`;
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

function toStart(title: string): string {
  return title.charAt(0).toLowerCase() + title.slice(1);
}

function renderPage(results: PageResults, measured: readonly CloudName[]): string {
  return `${GENERATED_NOTE}

# What Landfall costs

Each figure is of the compiled binary, with leader election and the HTTPS port as in production. One thing differs: the
Lease is longer (60 s), so that a busy machine does not end a measurement. Kubernetes and the cloud are simulated, in
another process on the same machine, so no figure depends on a network. Where noise matters, a figure is a median: of
ten starts, of three starts on a full cluster, or of three initialisations of up to 1,000 Nodes.

To measure it yourself: \`npm run build && npm run bench\` (about twelve minutes), the same with
\`-- --cloud=cloudstack\` (half an hour more, because load balancers are made one after another), and
\`npm run soak\` (half an hour).

In each table of growth, Landfall is ready, and N Nodes with 8 KiB of status each register at once. The figures cover
the time from the start of the process until the last Event is written. Settled memory is read 35 s later. The number
in brackets is the power of N by which a figure grows from the column before: 0 is constant, 1 is linear, 2 would be
quadratic. A power above 1.15 is marked. Both axes of each chart are logarithmic: a straight line is a power of N.

Landfall writes to Kubernetes at most three times per Node: the patch that removes the taint, the addresses, and an
Event. Most bytes with Kubernetes are of the watch, which sends each Node again after every change.

In an idle minute nothing changes. Kubelets write heartbeats into the status of their Nodes. For each heartbeat
Landfall reads the whole Node, and keeps nothing of it. The resident memory without Nodes is mostly the program's
own file. The processes of a machine share it, and the kernel takes it back when memory is short. Memory that the
kernel cannot take back is called anonymous.

Services of type LoadBalancer are measured in a cluster of 12 Nodes. CloudStack runs the jobs of one network one after
another. Here each takes 0.2 s, and Landfall asks about it after 0.3 s. What the server needs: for each Service, a
request that associates an address and one that tags it; for each port, one that makes the rule, one that opens the
firewall and one that adds the Nodes; for each of these, one question about its job; and one look at all that is there.
Landfall asks for the free addresses, too, before it associates one. A process that starts asks about the stickiness
of each rule once.

How much of the runtime's code is resident depends on the kernel, and on how it read the file: an empty program,
compiled by Bun, takes 24 to 28 MiB. So the goals for memory are for the rest: what is anonymous, and the pages of the
file with Landfall's own code.

${measured.map((cloud) => renderCloud(cloud, results[cloud])).join("\n")}
${renderGoFigures()}`;
}

/** The figures with one cloud. */
function renderCloud(cloud: CloudName, results: PageResults[CloudName]): string {
  const { figures, curve, runs } = results;
  const { title } = CLOUDS[cloud];
  const rows = toFigureRows(figures, cloud).map((row) => [
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
  const images = CHARTS.map(
    (spec) => `![${title}: ${toStart(spec.title)}](../benchmark/${toFile(spec, cloud)})\n`,
  ).join("\n");
  return `## ${title}: how the cost grows with the number of Nodes

${describeRuns(runs)}${describeNoise(runs)}

${NOTES[cloud]}

${toTable(header, marked)}
${bends.length === 0 ? "No figure grows faster than N." : `These grow faster than N: ${bends.join("; ")}.`}

${images}
## ${title}: goals

${toTable(["figure", "measured", "goal", ""], rows)}${figures["denied5000"] === undefined ? "" : DENIED}`;
}

/** When and where all was measured: in one sentence for each day and machine. Most first. */
function describeRuns(runs: Results["runs"]): string {
  const all = Map.groupBy(
    Object.entries(runs),
    ([, { date, machine }]) => `on ${date}: ${machine}`,
  );
  const [most, ...others] = [...all].sort(([, left], [, right]) => right.length - left.length);
  const sentences = others.map(
    ([place, some]) => ` ${some.map(([name]) => `\`${name}\``).join(", ")} ${place}.`,
  );
  return `Measured ${most?.[0] ?? "never"}.${sentences.join("")}`;
}

/** Says so if others kept the machine busy: that makes times longer. */
function describeNoise(runs: Results["runs"]): string {
  const all = Object.values(runs).flatMap(({ loadBefore, loadAfter }) => [loadBefore, loadAfter]);
  const highest = Math.max(0, ...all.map((load) => Number.parseFloat(load)));
  if (highest < NOISY_LOAD) return "";
  return ` **Noisy:** other programs kept the machine busy (load up to ${highest}).
Times, also of the processor, are longer than on an idle machine. Requests, bytes and memory differ little.`;
}

/** A load average that is not of the measurement itself, which has one process and its simulators. */
const NOISY_LOAD = 4;

/** What is special about the requests to a cloud. */
const NOTES: Readonly<Record<CloudName, string>> = {
  xenorchestra: `Landfall asks Xen Orchestra for everything at once. So the number of requests does not depend on the
number of Nodes, only their size does.`,
  cloudstack: `Landfall reads one list for all Nodes, in pages of 500 VMs. So a refresh takes one request for each
500 VMs. CloudStack sends the whole list at every refresh, because it cannot say that nothing changed. Landfall
recognises the same list by a digest of its text, and does not parse it again.`,
};

const DENIED = `
The systemd unit sets \`MemoryDenyWriteExecute=yes\`. It makes no difference, because Landfall runs without the JIT
compiler. The figure shows that.
`;
