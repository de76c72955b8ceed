/**
 * Medians, and a straight line through points with how sure it is.
 * @module
 */

/** The value below which a share of all lies; `NaN` of nothing. */
export function toQuantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** A straight line through points. */
export interface Trend {
  /** Units of y by unit of x. */
  readonly slope: number;
  /** Standard error of the slope. */
  readonly error: number;
}

/**
 * The line of least squares. Neighbours on the same side of the line count as fewer points (by their correlation),
 * because memory drifts: without this the error would be far too small. Points must be in the order of x; fewer than
 * three have no error (`NaN`).
 */
export function toTrend(points: readonly (readonly [x: number, y: number])[]): Trend {
  const count = points.length;
  const meanX = toMean(points.map(([x]) => x));
  const meanY = toMean(points.map(([, y]) => y));
  const sumXX = sum(points.map(([x]) => (x - meanX) ** 2));
  const slope = sum(points.map(([x, y]) => (x - meanX) * (y - meanY))) / sumXX;
  const residuals = points.map(([x, y]) => y - meanY - slope * (x - meanX));
  const sumRR = sum(residuals.map((one) => one ** 2));
  if (sumRR === 0) return { slope, error: count > 2 ? 0 : Number.NaN };
  const neighbours = sum(residuals.slice(1).map((one, at) => one * (residuals[at] ?? 0)));
  const correlation = Math.min(0.99, Math.max(0, neighbours / sumRR));
  const effective = (count * (1 - correlation)) / (1 + correlation);
  const freedom = Math.max(1, effective - 2);
  return { slope, error: count > 2 ? Math.sqrt(sumRR / freedom / sumXX) : Number.NaN };
}

function toMean(values: readonly number[]): number {
  return sum(values) / values.length;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
