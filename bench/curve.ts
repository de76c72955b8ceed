/**
 * The cost of a number of Nodes: does twice the number cost twice as much, or more?
 * @module
 */

/** The cost of initialising this many Nodes, from the start of the process until it is idle. */
export interface CurvePoint {
  readonly nodes: number;
  /** Seconds from the registration of all until all are initialised. */
  readonly seconds: number;
  /** Processor time in seconds, start included. */
  readonly cpuSeconds: number;
  /** Requests to the cloud. */
  readonly cloudRequests: number;
  /** Bytes between the cloud and Landfall, both ways. */
  readonly cloudBytes: number;
  /** Requests to Kubernetes, except those for the Lease. */
  readonly requests: number;
  /** Bytes between Kubernetes and Landfall, both ways. */
  readonly bytes: number;
  /** Most memory that was resident, in MiB. */
  readonly peak: number;
  /** Resident memory once settled, in MiB. */
  readonly settled: number;
}

/** A quantity of a curve. */
interface Quantity {
  readonly key: Exclude<keyof CurvePoint, "nodes">;
  readonly title: string;
  readonly format: (value: number) => string;
}

/** Every quantity, in the order of the table. */
export const QUANTITIES: readonly Quantity[] = [
  { key: "seconds", title: "until all are initialised", format: (value) => `${toShort(value)} s` },
  { key: "cpuSeconds", title: "processor time", format: (value) => `${toShort(value)} s` },
  { key: "cloudRequests", title: "requests to the cloud", format: (value) => toShort(value) },
  { key: "cloudBytes", title: "bytes with the cloud", format: (value) => toMebibytes(value) },
  { key: "requests", title: "requests to Kubernetes", format: (value) => toShort(value) },
  { key: "bytes", title: "bytes with Kubernetes", format: (value) => toMebibytes(value) },
  { key: "peak", title: "peak memory", format: (value) => `${toShort(value)} MiB` },
  { key: "settled", title: "settled memory", format: (value) => `${toShort(value)} MiB` },
];

/** Above this exponent between two neighbours a curve is not linear; less is noise. */
const BEND = 1.15;

/**
 * The power of N by which a quantity grows from one point to the next: 0 is constant, 1 linear,
 * 2 quadratic. `NaN` where nothing was measured.
 */
export function toExponent(
  [x1, y1]: readonly [number, number],
  [x2, y2]: readonly [number, number],
): number {
  return Math.log(y2 / y1) / Math.log(x2 / x1);
}

/** A table: the values of each quantity, and between each two the exponent; a bend is marked. */
export function toCurveTable(points: readonly CurvePoint[]): {
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
} {
  const header = ["Nodes", ...points.map(({ nodes }) => nodes.toLocaleString("en"))];
  const rows = QUANTITIES.map(({ key, title, format }) => [
    title,
    ...points.map((point, at) => {
      const exponent = exponentAt(points, at, key);
      const value = format(point[key]);
      return exponent === undefined ? value : `${value} (${describeExponent(exponent)})`;
    }),
  ]);
  return { header, rows };
}

/** The places where curves bend, in words; empty when everything is linear or better. */
export function listBends(points: readonly CurvePoint[]): readonly string[] {
  return QUANTITIES.flatMap(({ key, title }) =>
    points.flatMap((point, at) => {
      const exponent = exponentAt(points, at, key);
      if (exponent === undefined || !(exponent > BEND)) return [];
      const from = points[at - 1]?.nodes.toLocaleString("en");
      const to = point.nodes.toLocaleString("en");
      return [`${title}, ${from} to ${to} Nodes: ${exponent.toFixed(2)}`];
    }),
  );
}

function exponentAt(
  points: readonly CurvePoint[],
  at: number,
  key: Quantity["key"],
): number | undefined {
  const [before, point] = [points[at - 1], points[at]];
  if (before === undefined || point === undefined) return undefined;
  return toExponent([before.nodes, before[key]], [point.nodes, point[key]]);
}

function describeExponent(exponent: number): string {
  return exponent > BEND ? `${exponent.toFixed(2)} BENDS` : exponent.toFixed(2);
}

/** Three digits or so. */
function toShort(value: number): string {
  if (Number.isInteger(value)) return value.toLocaleString("en");
  return value.toFixed(value < 1 ? 2 : value < 100 ? 1 : 0);
}

function toMebibytes(bytes: number): string {
  return `${toShort(bytes / 2 ** 20)} MiB`;
}
