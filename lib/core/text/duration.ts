/**
 * Durations as people write them in flags and files: the forms of Go's `time.ParseDuration`.
 * @module
 */

const MS_PER_UNIT: ReadonlyMap<string, number> = new Map([
  ["ns", 1e-6],
  ["us", 1e-3],
  ["\u00b5s", 1e-3], // micro sign
  ["\u03bcs", 1e-3], // Greek letter mu
  ["ms", 1],
  ["s", 1_000],
  ["m", 60_000],
  ["h", 3_600_000],
]);

/** Go counts nanoseconds in 64 bits; longer durations are refused here, too. */
const DURATION_MS_MAX = 2 ** 63 / 1e6;

/**
 * Reads a duration such as `1h30m`, `300ms`, `5m0s`, `1.5s`, `-2s` or `0`.
 *
 * Units are `ns`, `us`, `ms`, `s`, `m` and `h`; every number needs one, only `0` stands alone
 * (https://pkg.go.dev/time#ParseDuration).
 *
 * @param text The text
 * @returns Milliseconds, with a fraction if the text has one
 * @throws {RangeError} when the text is not a duration; the message quotes it
 */
export function parseDuration(text: string): number {
  const [, sign = "", body = ""] = /^([+-]?)(.*)$/s.exec(text) ?? [];
  if (body === "0") return 0;
  const term = /(\d+(?:\.\d*)?|\.\d+)([a-z\u00b5\u03bc]+)/y;
  let total = 0;
  let end = 0;
  while (end < body.length) {
    const [whole = "", amount = "", unit = ""] = term.exec(body) ?? [];
    const factor = MS_PER_UNIT.get(unit);
    if (factor === undefined) throw toRangeError(text);
    total += Number(amount) * factor;
    end += whole.length;
  }
  if (end === 0 || total >= DURATION_MS_MAX) throw toRangeError(text);
  return sign === "-" ? -total : total;
}

/** Reads a duration from `minMs` to `maxMs`, both allowed; `undefined` when the text is none of these. */
export function parseDurationWithin(
  text: string,
  minMs: number,
  maxMs: number,
): number | undefined {
  try {
    const ms = parseDuration(text);
    return ms >= minMs && ms <= maxMs ? ms : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Says which durations a setting accepts: `a duration from 1s to 1h, for example "30s"`.
 *
 * @param example An allowed one, as written in a file
 */
export function describeDurationRange(minMs: number, maxMs: number, example: string): string {
  return `a duration from ${toShort(minMs)} to ${toShort(maxMs)}, for example "${example}"`;
}

/**
 * Shows milliseconds as Go does: `1h30m0s`, `5m0s`, `1.5s`, `300ms`, `0s`. {@linkcode parseDuration} reads it back.
 *
 * @param ms Milliseconds; anything below a microsecond is rounded away
 */
export function formatDuration(ms: number): string {
  const sign = ms < 0 ? "-" : "";
  const micros = Math.round(Math.abs(ms) * 1_000);
  if (micros === 0) return "0s";
  if (micros < 1_000) return `${sign}${micros}us`;
  if (micros < 1_000_000) return `${sign}${micros / 1_000}ms`;
  const minutes = Math.floor(micros / 60_000_000);
  const seconds = `${(micros - minutes * 60_000_000) / 1_000_000}s`;
  if (minutes === 0) return `${sign}${seconds}`;
  const hours = Math.floor(minutes / 60);
  return `${sign}${hours > 0 ? `${hours}h` : ""}${minutes % 60}m${seconds}`;
}

/** Without zeros at the end: `1h`, where Go writes `1h0m0s`. */
function toShort(ms: number): string {
  return formatDuration(ms)
    .replace(/([hm])0s$/, "$1")
    .replace(/h0m$/, "h");
}

function toRangeError(text: string): RangeError {
  return new RangeError(
    `Cannot read duration "${text}": it needs numbers with units, for example "300ms", "1.5s" or "1h30m"`,
  );
}
