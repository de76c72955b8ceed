/**
 * Spans of time as pages show them.
 * @module
 */

/** The time of an ISO 8601 text in milliseconds; `NaN` for any other text, which pages show as nothing. */
export function toMs(time: string | undefined): number {
  return Date.parse(time ?? "");
}

/** A span of milliseconds in its largest unit, as kubectl shows ages. Empty for `NaN`; never negative. */
export function formatSpan(ms: number): string {
  if (Number.isNaN(ms)) return "";
  const seconds = Math.max(0, Math.round(ms / 1_000));
  if (seconds < 120) return `${seconds}s`;
  return seconds < 7_200 ? `${Math.floor(seconds / 60)}m` : `${Math.floor(seconds / 3_600)}h`;
}
