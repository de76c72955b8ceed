/**
 * Sizes for people, in the units of Kubernetes.
 * @module
 */

const UNITS: readonly (readonly [unit: string, bytes: number])[] = [
  ["Pi", 1024 ** 5],
  ["Ti", 1024 ** 4],
  ["Gi", 1024 ** 3],
  ["Mi", 1024 ** 2],
  ["Ki", 1024],
  ["P", 1000 ** 5],
  ["T", 1000 ** 4],
  ["G", 1000 ** 3],
  ["M", 1000 ** 2],
  ["k", 1000],
];
const ROUNDED = UNITS.slice(0, 5);

/**
 * Formats a size exactly: `8Gi`, `1536Mi`, `10G`, `8589934593 bytes`. Different sizes have different texts, and a spec
 * may have each text but those of the last form.
 */
export function formatSize(bytes: number): string {
  let best: string | undefined;
  for (const [unit, scale] of UNITS) {
    if (bytes === 0 || bytes % scale !== 0) continue;
    const text = `${bytes / scale}${unit}`;
    if (best === undefined || text.length < best.length) best = text;
  }
  return best ?? `${bytes} bytes`;
}

/** Formats a size for which the first digits are enough, rounded down: `8.3Gi`. */
export function formatAbout(bytes: number): string {
  const [unit, scale] = ROUNDED.find(([, one]) => bytes >= one) ?? [" bytes", 1];
  return `${Math.floor((bytes / scale) * 10) / 10}${unit}`;
}
