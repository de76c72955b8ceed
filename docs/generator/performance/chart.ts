/**
 * Charts as SVG: lines through points over two logarithmic axes, legible by day and by night.
 * @module
 */

/** One line. */
interface Series {
  readonly name: string;
  /** Both above zero; others are left out. Ascending by x. */
  readonly points: readonly (readonly [x: number, y: number])[];
}

/** What a chart shows. */
export interface Chart {
  readonly title: string;
  /** What it tells, for those who do not see it. */
  readonly description: string;
  readonly xTitle: string;
  /** What y is, with its unit. */
  readonly yTitle: string;
  /** Three at most. */
  readonly series: readonly Series[];
}

const WIDTH = 720;
const HEIGHT = 400;
/** Room around what is drawn. */
const PLOT = { left: 64, right: 24, top: 88, bottom: 52 };
/** Each line has its own colour, marks and dashes: colour is never the only difference. */
const DASHES = ["none", "7 4", "2 4"];
const STYLE = `
  text { font: 13px system-ui, sans-serif; fill: #1f2328; }
  .title { font-size: 16px; font-weight: 600; }
  .tick { font-size: 12px; fill: #59636e; }
  .grid { stroke: #d1d9e0; stroke-width: 1; }
  .line { fill: none; stroke-width: 2; }
  .s0 { stroke: #0a58ca; } .f0 { fill: #0a58ca; }
  .s1 { stroke: #b35900; } .f1 { fill: #b35900; }
  .s2 { stroke: #2a7a3b; } .f2 { fill: #2a7a3b; }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc; }
    .tick { fill: #9198a1; }
    .grid { stroke: #3d444d; }
    .s0 { stroke: #6cb6ff; } .f0 { fill: #6cb6ff; }
    .s1 { stroke: #f0a35e; } .f1 { fill: #f0a35e; }
    .s2 { stroke: #7ee787; } .f2 { fill: #7ee787; }
  }`;

/** The chart as a file. The same for the same input, on every machine. */
export function renderChart(chart: Chart): string {
  const drawn = chart.series.map(({ name, points }) => ({
    name,
    points: points.filter(([x, y]) => x > 0 && y > 0),
  }));
  const all = drawn.flatMap(({ points }) => points);
  const xs = [...new Set(all.map(([x]) => x))].sort((left, right) => left - right);
  const ticks = toTicks(all.map(([, y]) => y));
  const toX = toScale([xs[0] ?? 1, xs.at(-1) ?? 10], [PLOT.left, WIDTH - PLOT.right]);
  const toY = toScale([ticks[0] ?? 1, ticks.at(-1) ?? 10], [HEIGHT - PLOT.bottom, PLOT.top]);
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-labelledby="title desc">`,
    `<title id="title">${escape(chart.title)}</title>`,
    `<desc id="desc">${escape(chart.description)}</desc>`,
    `<style>${STYLE}\n</style>`,
    `<text class="title" x="16" y="28">${escape(chart.title)}</text>`,
    `<text class="tick" x="16" y="${PLOT.top - 12}">${escape(chart.yTitle)}</text>`,
    ...renderAxes({ xs, ticks, toX, toY }),
    `<text class="tick" x="${WIDTH - PLOT.right}" y="${HEIGHT - 10}" text-anchor="end">${escape(chart.xTitle)}</text>`,
    ...drawn.flatMap((one, at) => renderSeries(one, { at, toX, toY })),
    `</svg>`,
  ].join("\n")}\n`;
}

type Scale = (value: number) => number;

/** From values to places, by their logarithms. */
function toScale(
  [low, high]: readonly [number, number],
  [from, to]: readonly [number, number],
): Scale {
  const span = Math.log(high) - Math.log(low) || 1;
  return (value) => from + ((Math.log(value) - Math.log(low)) / span) * (to - from);
}

/**
 * Round values from the last one below all to the first one above all: every digit of a power of ten
 * when all are close together, 1, 2 and 5 of each power, or the powers alone when they are far apart.
 */
function toTicks(values: readonly number[]): readonly number[] {
  const low = Math.min(...values);
  const high = Math.max(...values);
  if (!Number.isFinite(low) || low <= 0) return [1, 10];
  const first = Math.floor(Math.log10(low));
  const last = Math.ceil(Math.log10(high));
  const steps = last - first > 3 ? [1] : high < 4 * low ? [1, 2, 3, 4, 5, 6, 7, 8, 9] : [1, 2, 5];
  const all: number[] = [];
  for (let power = first; power <= last; power += 1) {
    for (const step of steps) all.push(toTick(step, power));
  }
  const begin = all.findLastIndex((tick) => tick <= low);
  const end = all.findIndex((tick) => tick >= high);
  const ticks = all.slice(Math.max(0, begin), end + 1);
  // One value on a line of its own has no room.
  return ticks.length > 1 ? ticks : [...ticks, (ticks[0] ?? 1) * 10];
}

/** Divides where it can: 3 / 10 is 0.3, and 3 * 0.1 is not. */
function toTick(step: number, power: number): number {
  return power < 0 ? step / 10 ** -power : step * 10 ** power;
}

function renderAxes(axes: {
  readonly xs: readonly number[];
  readonly ticks: readonly number[];
  readonly toX: Scale;
  readonly toY: Scale;
}): string[] {
  const { xs, ticks, toX, toY } = axes;
  const bottom = HEIGHT - PLOT.bottom;
  return [
    ...ticks.map((tick) => {
      const y = toY(tick).toFixed(1);
      return (
        `<line class="grid" x1="${PLOT.left}" x2="${WIDTH - PLOT.right}" y1="${y}" y2="${y}"/>` +
        `<text class="tick" x="${PLOT.left - 8}" y="${y}" dy="4" text-anchor="end">${toLabel(tick)}</text>`
      );
    }),
    ...xs.map((value) => {
      const x = toX(value).toFixed(1);
      return (
        `<line class="grid" x1="${x}" x2="${x}" y1="${PLOT.top}" y2="${bottom}"/>` +
        `<text class="tick" x="${x}" y="${bottom + 18}" text-anchor="middle">${toLabel(value)}</text>`
      );
    }),
  ];
}

function renderSeries(
  { name, points }: Series,
  options: { readonly at: number; readonly toX: Scale; readonly toY: Scale },
): string[] {
  const { at, toX, toY } = options;
  const places = points.map(([x, y]): [number, number] => [toX(x), toY(y)]);
  const path = places.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ");
  const dashes = `stroke-dasharray="${DASHES[at] ?? "none"}"`;
  // Names stand above, in the order of the lines, a third of the width for each.
  const left = 16 + at * 240;
  return [
    `<polyline class="line s${at}" ${dashes} points="${path}"/>`,
    ...places.map(([x, y]) => renderMark(x, y, at)),
    `<line class="line s${at}" ${dashes} x1="${left}" x2="${left + 28}" y1="46" y2="46"/>`,
    renderMark(left + 14, 46, at),
    `<text x="${left + 36}" y="50">${escape(name)}</text>`,
  ];
}

function renderMark(x: number, y: number, at: number): string {
  if (at === 0) return `<circle class="f0" cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="4"/>`;
  const [left, top] = [(x - 4).toFixed(1), (y - 4).toFixed(1)];
  const turn = at === 2 ? ` transform="rotate(45 ${x.toFixed(1)} ${y.toFixed(1)})"` : "";
  return `<rect class="f${at}" x="${left}" y="${top}" width="8" height="8"${turn}/>`;
}

function toLabel(value: number): string {
  return value.toLocaleString("en", { maximumSignificantDigits: 3 });
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
