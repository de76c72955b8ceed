/**
 * Bodies of requests to the Redfish service.
 * @module
 */
import { type Fields, isFields, parseFields } from "../../core/text/values.ts";
import type { BootOverrideChange } from "../../cloud/capabilities/machine_management.ts";
import { quote } from "../../core/text/printable.ts";
import { RedfishError } from "./replies.ts";
import { DURATIONS, MODES, toTargets } from "./words.ts";

/**
 * Reads an object in JSON. An empty body is an empty object.
 *
 * @throws {RedfishError} if it is none
 */
export async function readFields(request: Request): Promise<Fields> {
  const text = await request.text();
  if (text.trim() === "") return {};
  const [type = ""] = (request.headers.get("content-type") ?? "").toLowerCase().split(";");
  if (type.trim() !== "application/json") {
    throw new RedfishError(415, "UnrecognizedRequestBody", "Send application/json");
  }
  const fields = parseFields(text);
  if (fields !== undefined) return fields;
  throw toBad("MalformedJSON", "The body is no object in JSON");
}

/** Reads what to do of a reset. @throws {RedfishError} if it is none of the words */
export function parseReset<T>(
  { ResetType: type, ...more }: Fields,
  words: Readonly<Record<string, T>>,
): T {
  const [unknown] = Object.keys(more);
  if (unknown !== undefined) {
    throw toBad("ActionParameterUnknown", `The action has no parameter ${quote(unknown)}`);
  }
  if (type === undefined) throw toBad("ActionParameterMissing", "ResetType is missing");
  const action = find(words, type);
  if (action !== undefined) return action;
  const message = `ResetType must be one of ${list(words)}`;
  throw toBad("ActionParameterValueNotInList", message);
}

/** Reads which image to insert. What is left out, or has its default, needs no word. @throws {RedfishError} for more */
export function parseInsertion({ Image: image, ...more }: Fields): string {
  const other = Object.entries(more).find(([name, value]) => INSERTION[name]?.has(value) !== true);
  if (other !== undefined) {
    const message = `The action does not take ${quote(other[0])} with this value`;
    throw toBad("ActionParameterNotSupported", message);
  }
  if (typeof image === "string") return image;
  throw toBad("ActionParameterMissing", "Image must be a URL");
}

/** What an image may be, besides its URL. */
const INSERTION: Readonly<Record<string, ReadonlySet<unknown>>> = {
  Inserted: new Set([true]),
  WriteProtected: new Set([true]),
  TransferMethod: new Set(["Stream", "Upload", null]),
  TransferProtocolType: new Set(["HTTP", "HTTPS", null]),
  UserName: new Set([null, ""]),
  Password: new Set([null, ""]),
};

/**
 * Reads a change of a system: only its boot override can be changed.
 *
 * @throws {RedfishError} for another
 */
export function parseSystemChange(
  { Boot: boot, ...more }: Fields,
  hasMedia: boolean,
): BootOverrideChange {
  const [other] = Object.keys(more);
  if (other !== undefined) throw toUnchangeable(other);
  if (!isFields(boot)) throw toBad("PropertyMissing", "Boot is missing");
  const {
    BootSourceOverrideTarget: target,
    BootSourceOverrideEnabled: enabled,
    BootSourceOverrideMode: mode,
    ...rest
  } = boot;
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) throw toUnchangeable(`Boot/${unknown}`);
  const device = pick("BootSourceOverrideTarget", toTargets(hasMedia), target);
  const duration = pick("BootSourceOverrideEnabled", DURATIONS, enabled);
  const firmware = pick("BootSourceOverrideMode", MODES, mode);
  return {
    ...(device && { device }),
    ...(duration && { duration }),
    ...(firmware && { firmware }),
  };
}

function pick<T>(name: string, words: Readonly<Record<string, T>>, word: unknown): T | undefined {
  const found = find(words, word);
  if (word === undefined || found !== undefined) return found;
  throw toBad("PropertyValueNotInList", `${name} must be one of ${list(words)}`);
}

function toUnchangeable(name: string): RedfishError {
  return toBad("PropertyUnknown", `${quote(name)} cannot be changed; only Boot can`);
}

function toBad(id: string, message: string): RedfishError {
  return new RedfishError(400, id, message);
}

function find<T>(words: Readonly<Record<string, T>>, word: unknown): T | undefined {
  return typeof word === "string" && Object.hasOwn(words, word) ? words[word] : undefined;
}

function list(words: Readonly<Record<string, unknown>>): string {
  return Object.keys(words).join(", ");
}
