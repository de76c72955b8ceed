/**
 * Sizes, as Kubernetes writes quantities: `8Gi`, `1.5G`, `8589934592`.
 * @module
 */

/** What {@linkcode toBytes} reads. */
export const SIZE_FORM: RegExp = /^(\d{1,15})(?:\.(\d{1,9}))?([KMGTP]i|[kMGTP])?$/;

const UNITS: Readonly<Record<string, bigint>> = {
  k: 1000n,
  M: 1000n ** 2n,
  G: 1000n ** 3n,
  T: 1000n ** 4n,
  P: 1000n ** 5n,
  Ki: 1024n,
  Mi: 1024n ** 2n,
  Gi: 1024n ** 3n,
  Ti: 1024n ** 4n,
  Pi: 1024n ** 5n,
};

/**
 * Reads a size.
 *
 * @returns Bytes, rounded up as Kubernetes does; `undefined` if the text is no size, or the number is not exact
 */
export function toBytes(size: string): number | undefined {
  const [, whole, fraction = "", unit = ""] = SIZE_FORM.exec(size) ?? [];
  if (whole === undefined) return undefined;
  const scale = 10n ** BigInt(fraction.length);
  const scaled = BigInt(whole + fraction) * (UNITS[unit] ?? 1n);
  const bytes = Number((scaled + scale - 1n) / scale);
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}
