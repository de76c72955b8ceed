/**
 * Bodies of requests to the Redfish service, and its replies: resources, and errors in the form that clients expect.
 * @module
 */
import { createHash } from "node:crypto";
import type {
  BootOverrideChange,
  ManagementAnswer,
  ManagementRefusal,
} from "../../cloud/capabilities/machine_management.ts";
import { quote } from "../../core/text/printable.ts";
import { type Fields, isFields, parseFields } from "../../core/text/values.ts";
import { toSchemaLink, toType } from "./resources.ts";
import { DURATIONS, MODES, toTargets } from "./words.ts";
import type { Refusal } from "../sockets/exchange.ts";

/** Why a request is refused, for its client. */
export class RedfishError extends Error {
  override readonly name = "RedfishError";
  readonly status: number;
  /** Of the base registry of Redfish: `PropertyUnknown`. */
  readonly id: string;
  readonly headers: Readonly<Record<string, string>>;

  /** @param message What is wrong, and what to do; no full stop, no secret */
  constructor(
    status: number,
    id: string,
    message: string,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.status = status;
    this.id = id;
    this.headers = headers;
  }
}

const REGISTRY = "Base.1.18";
const RETRY_SECONDS = "5";
const HEADERS = {
  "content-type": "application/json; charset=utf-8",
  "odata-version": "4.0",
  "cache-control": "no-store",
} as const;

/** Replies with a resource. */
export function reply(
  resource: object,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const type = "@odata.type" in resource ? String(resource["@odata.type"]) : undefined;
  const described = type !== undefined && { link: toSchemaLink(type) };
  return new Response(`${JSON.stringify(resource)}\n`, {
    status,
    headers: { ...HEADERS, ...described, ...headers },
  });
}

/** Replies with a resource that can be changed, and with its ETag; 304 if the client has it so already. */
export function replyTagged(resource: object, headers: Headers): Response {
  const tagged = { ...resource, "@odata.etag": toETag(resource) };
  const etag = tagged["@odata.etag"];
  const isSame = matchesETag(headers.get("if-none-match"), etag);
  if (isSame) return new Response(null, { status: 304, headers: { "odata-version": "4.0", etag } });
  return reply(tagged, 200, { etag });
}

/**
 * Refuses a change of a resource that the client saw otherwise.
 *
 * @param readNow Reads the resource. Only called if the client says which one it saw
 * @throws {RedfishError} if it is another one now
 */
export async function checkUnchanged(
  headers: Headers,
  readNow: () => Promise<object>,
): Promise<void> {
  const wanted = headers.get("if-match");
  if (wanted === null || wanted.trim() === "*") return;
  if (matchesETag(wanted, toETag(await readNow()))) return;
  throw new RedfishError(412, "PreconditionFailed", "The resource has changed; read it again");
}

function toETag(resource: object): string {
  return `"${createHash("sha256").update(JSON.stringify(resource)).digest("base64url").slice(0, 22)}"`;
}

function matchesETag(header: string | null, etag: string): boolean {
  const tags = new Set((header ?? "").split(",").map((one) => one.trim().replace(/^W\//, "")));
  return tags.has(etag) || tags.has("*");
}

/** Replies with a document in XML. */
export function replyXml(text: string): Response {
  return new Response(text, {
    headers: { ...HEADERS, "content-type": "application/xml; charset=utf-8" },
  });
}

/** Replies that it is done, without a resource. */
export function replyDone(): Response {
  return new Response(null, { status: 204, headers: { "odata-version": "4.0" } });
}

/** Replies with an error. */
export function replyError(error: RedfishError): Response {
  return reply(toErrorBody(error), error.status, error.headers);
}

/** The body of a refusal of the listener, which no endpoint sees. */
export function formatRefusal({ status, message }: Refusal): { type: string; text: string } {
  const text = message.trim();
  const sentence = `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
  const error = new RedfishError(status, "GeneralError", sentence);
  return { type: HEADERS["content-type"], text: `${JSON.stringify(toErrorBody(error))}\n` };
}

function toErrorBody({ status, id, message }: RedfishError): object {
  const severity = status >= 500 ? "Critical" : "Warning";
  const info = {
    "@odata.type": toType("Message"),
    MessageId: `${REGISTRY}.${id}`,
    Message: `${message}.`,
    MessageArgs: [],
    Severity: severity,
    MessageSeverity: severity,
    Resolution: "None.",
  };
  const code = `${REGISTRY}.GeneralError`;
  return { error: { code, message: `${message}.`, "@Message.ExtendedInfo": [info] } };
}

/** The answer while another process leads, or what is behind does not answer. */
export function toUnavailable(message: string): RedfishError {
  const headers = { "retry-after": RETRY_SECONDS };
  return new RedfishError(503, "ServiceTemporarilyUnavailable", message, headers);
}

const REFUSALS: Readonly<Record<ManagementRefusal, readonly [status: number, id: string]>> = {
  state: [409, "OperationNotAllowed"],
  notGraceful: [409, "OperationNotAllowed"],
  busy: [503, "ResourceInUse"],
  blocked: [409, "OperationNotAllowed"],
  // Not 403: the client has its right, and would sign in again without success.
  denied: [409, "OperationNotAllowed"],
  noRoom: [409, "OperationNotAllowed"],
  notOurs: [404, "ResourceMissingAtURI"],
  unsupported: [501, "ActionNotSupported"],
  firmware: [400, "PropertyValueNotInList"],
  image: [400, "ActionParameterValueError"],
  incomplete: [400, "PropertyMissing"],
};

/** The value of an answer. @throws {RedfishError} if there is none */
export function requireDone<T>(answer: ManagementAnswer<T>): T {
  if (answer.kind === "done") return answer.value;
  if (answer.kind === "silent") throw toUnavailable(answer.message);
  const [status, id] = REFUSALS[answer.refusal];
  const headers = { ...(answer.refusal === "busy" && { "retry-after": RETRY_SECONDS }) };
  throw new RedfishError(status, id, answer.message, headers);
}

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
