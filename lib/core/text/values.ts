/**
 * Values as others write them: booleans, durations, sizes, UUIDs and JSON, and the one form in which a
 * value is refused.
 * @module
 */
import { suggest } from "./edit_distance.ts";
import { quote } from "./printable.ts";

const BOOLS: ReadonlyMap<string, boolean> = new Map([
  ...["1", "t", "T", "true", "TRUE", "True"].map((text) => [text, true] as const),
  ...["0", "f", "F", "false", "FALSE", "False"].map((text) => [text, false] as const),
]);

/**
 * Reads a boolean.
 *
 * @returns `undefined` if the text is not a boolean
 */
export function parseBool(text: string): boolean | undefined {
  return BOOLS.get(text);
}

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

const SIZE_UNITS: readonly (readonly [unit: string, bytes: number])[] = [
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
const BINARY_UNITS = SIZE_UNITS.slice(0, 5);

/**
 * Formats a size exactly: `8Gi`, `1536Mi`, `10G`, `8589934593 bytes`. Different sizes have different texts, and a spec
 * may have each text but those of the last form.
 */
export function formatSize(bytes: number): string {
  let best: string | undefined;
  for (const [unit, scale] of SIZE_UNITS) {
    if (bytes === 0 || bytes % scale !== 0) continue;
    const text = `${bytes / scale}${unit}`;
    if (best === undefined || text.length < best.length) best = text;
  }
  return best ?? `${bytes} bytes`;
}

/** Formats a size for which the first digits are enough, rounded down: `8.3Gi`. */
export function formatAbout(bytes: number): string {
  const [unit, scale] = BINARY_UNITS.find(([, one]) => bytes >= one) ?? [" bytes", 1];
  return `${Math.floor((bytes / scale) * 10) / 10}${unit}`;
}

const GIB = 1024 ** 3;

/** The memory of a machine, `16 GiB`, with at most two digits after the point; `undefined` for what is no amount. */
export function formatMemory(bytes: number | null | undefined): string | undefined {
  const isAmount = typeof bytes === "number" && bytes >= 0 && bytes <= Number.MAX_SAFE_INTEGER;
  return isAmount ? `${Math.round((bytes / GIB) * 100) / 100} GiB` : undefined;
}

const NIL_UUID = "00000000-0000-0000-0000-000000000000";
/** The most frequent form: each refresh reads thousands of them. */
const CANONICAL_UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * Reads a UUID in any form that was ever accepted in provider IDs: canonical, 32 hexadecimal digits, `{braced}`,
 * `urn:uuid:`; any case.
 *
 * @returns The canonical form in lower case, the only one that every cloud accepts; `undefined` if the text is not a
 * UUID, or the nil UUID
 */
export function parseUuid(text: string): string | undefined {
  if (CANONICAL_UUID.test(text)) return text === NIL_UUID ? undefined : text;
  const bare = /^\{(.*)\}$/.exec(text)?.[1] ?? text.replace(/^urn:uuid:/i, "");
  const match = /^([0-9a-f]{8})(-?)([0-9a-f]{4})\2([0-9a-f]{4})\2([0-9a-f]{4})\2([0-9a-f]{12})$/i;
  const [whole, a, , b, c, d, e] = match.exec(bare) ?? [];
  if (whole === undefined) return undefined;
  const uuid = `${a}-${b}-${c}-${d}-${e}`.toLowerCase();
  return uuid === NIL_UUID ? undefined : uuid;
}

/**
 * Reverses the bytes of the first three parts of a UUID. SMBIOS 2.6 and later (§7.2.1) uses that order, older versions
 * do not. UEFI guests of XCP-ng announce 2.8 but use the older order, so Linux and the kubelet show these parts
 * reversed.
 *
 * @param uuid A canonical UUID; any other text is returned unchanged
 */
export function swapUuid(uuid: string): string {
  if (!CANONICAL_UUID.test(uuid)) return uuid;
  const byte = (at: number): string => uuid.slice(at, at + 2);
  const first = byte(6) + byte(4) + byte(2) + byte(0);
  return `${first}-${byte(11)}${byte(9)}-${byte(16)}${byte(14)}${uuid.slice(18)}`;
}

/** An object whose fields are not checked yet. */
export type Fields = Readonly<Record<string, unknown>>;

/** Whether a value is an object with fields: neither a list nor `null`. */
export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Reads JSON. @returns `undefined` if the text is none */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Reads an object in JSON. @returns `undefined` if the text is none */
export function parseFields(text: string): Fields | undefined {
  const value = parseJson(text);
  return isFields(value) ? value : undefined;
}

const NUMBER = String.raw`[+-]?\d{1,6}(?:\.\d{1,3})?`;
const DURATION = `(?:${NUMBER} ?(?:[mnu]?s|[dhm]|secs?|mins?)){1,3}`;
/** Also one with a number that is too large, and a CIDR. */
const IPV4 = String.raw`\d{1,4}(?:\.\d{1,4}){2,4}(?:/\d{1,3})?`;
/** Numbers, durations, switches and IPv4 addresses of usual length. No secret looks like this. */
const HARMLESS = new RegExp(`^(?:true|false|yes|no|${NUMBER}|${DURATION}|${IPV4})$`, "i");

/**
 * Says what a value must be, and what it is.
 *
 * @param what What is accepted: `a duration from 1s to 1h, for example "30s"`
 * @param found What was given, as a noun or in quotes. @default {only what is accepted}
 */
export function mustBe(what: string, found?: string): string {
  return found === undefined ? `must be ${what}` : `must be ${what}, but is ${found}`;
}

/** The same for the value of a flag. It shows the value: flags contain no secrets. */
export function mustBeText(what: string, text: string): string {
  return mustBe(what, text === "" ? "empty" : quote(text));
}

/** `text, wide or json` */
export function nameChoices(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
}

/** Refuses a text that is none of a few words. It shows the text, and what was meant. */
export function mustBeOneOf(words: readonly string[], text: string): string {
  return mustBeText(nameChoices(words), text) + suggest(text, words);
}

/**
 * The same for a value from a settings file. Any text there may be a secret on the wrong line, so only short numbers,
 * durations, switches and IPv4 addresses are shown. Of anything else Landfall says only the kind.
 */
export function mustBeSetting(what: string, value: unknown): string {
  const isShown = ["boolean", "number", "string"].includes(typeof value);
  if (isShown && HARMLESS.test(String(value))) return mustBe(what, JSON.stringify(value));
  return mustBe(what, typeof value === "string" && value !== "" ? undefined : nameKind(value));
}

/** Refuses a value that is no text. Never shows it: what should be text may be a secret. */
export function mustBeQuoted(value: unknown): string {
  const message = mustBe("text", nameKind(value));
  return ["boolean", "number"].includes(typeof value) ? `${message}; write it in quotes` : message;
}

function nameKind(value: unknown): string {
  if (value === undefined || value === null || value === "") return "empty";
  if (typeof value === "object") return Array.isArray(value) ? "a list" : "a block (key: value)";
  return typeof value === "string" ? "text" : `a ${typeof value}`;
}

/** Splits a comma separated list; blanks around items and empty items are dropped. */
export function parseList(text: string): string[] {
  return text
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}
