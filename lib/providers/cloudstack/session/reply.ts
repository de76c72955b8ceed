/**
 * Takes an answer of CloudStack out of its envelope, or says what an unexpected reply means.
 * @module
 */
import { parseReply } from "../../../core/http/request.ts";
import { isFields } from "../../../core/text/values.ts";
import type { GenericSchema } from "valibot";
import { CloudError } from "../../../cloud/errors.ts";
import { decode } from "../../../cloud_http/decode.ts";
import type { Reply } from "../../../cloud_http/client.ts";
import { shorten, toPlainText } from "../../../core/text/printable.ts";
import { ApiError, ExplainedError } from "./errors.ts";
import type { Asked, Judgement } from "./refusal.ts";

/** What an answer says, by the names of its fields. */
export type Body = Readonly<Record<string, unknown>>;

/** How much to show of a content type. */
const TYPE_CHARS_MAX = 100;
/** What some servers are set to send instead of `application/json`: the default of old versions. */
const JSON_TYPES = /^(?:application\/json|text\/javascript)\b/i;

/** Whether a content type of CloudStack promises JSON. */
export function isJsonType(contentType: string): boolean {
  return JSON_TYPES.test(contentType);
}

/**
 * What is under the single key of an answer. The key is not derived from the command: some servers use another one.
 *
 * @throws {ApiError} when the server refuses
 * @throws {ExplainedError} when the reply is not CloudStack's
 */
export function readBody(reply: Reply, asked: Asked): Body {
  const { json, status } = reply;
  const value = json?.value;
  const [body, ...more] = isFields(value) ? Object.values(value) : [];
  if (json === undefined || !isFields(body) || more.length > 0) throw toStrange(reply, asked);
  const code = Number(body["errorcode"] ?? status) || status;
  if (code >= 200 && code < 300) return body;
  if (body["errorcode"] === undefined) throw toStrange(reply, asked);
  const text = body["errortext"];
  const { serverTimeMs } = reply;
  const refusal = { code, text: typeof text === "string" ? text : "" };
  throw new ApiError(refusal, { ...asked, serverTimeMs });
}

/** The same of the text of an answer that was read before. */
export function parseBody(text: string): Body {
  const value = parseReply(text);
  const [body] = isFields(value) ? Object.values(value) : [];
  return isFields(body) ? body : {};
}

/** How to read an object of an answer: what is under `key`, or the whole answer. */
interface ObjectReader<T> {
  readonly command: string;
  readonly key?: string;
  readonly schema: GenericSchema<unknown, T>;
}

/**
 * Reads one object of an answer.
 *
 * @throws {CloudError} when it cannot be read
 */
export function toObject<T>(body: unknown, { command, key, schema }: ObjectReader<T>): T {
  const object = key === undefined || !isFields(body) ? body : body[key];
  const decoded = decode(schema, object);
  if ("value" in decoded) return decoded.value;
  const where = key === undefined ? "" : ` (${key})`;
  const message = `CloudStack's answer to ${command}${where} cannot be read: ${decoded.problem}`;
  throw new CloudError("protocol", message);
}

/** A reply that is not CloudStack's: that of a proxy on the way, or of another server. */
function toStrange(reply: Reply, { command }: Asked): ExplainedError {
  const { status, contentType, retryAfterMs } = reply;
  const type = toPlainText(shorten(contentType || "nothing", TYPE_CHARS_MAX));
  const isDamaged = isJsonType(contentType) && reply.json === undefined;
  const answered = `The server answered ${status} with ${isDamaged ? "damaged JSON" : type} to ${command}`;
  const { kind, word, what, advice } = judgeStrange(status, isDamaged);
  return new ExplainedError(
    kind,
    { word, problem: `${answered}: ${what}`, advice },
    { status, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) },
  );
}

function judgeStrange(status: number, isDamaged: boolean): Judgement {
  if (status === 429) {
    const advice = "raise the limit of the proxy on the way";
    return { kind: "throttled", word: "throttled", what: "too many requests", advice };
  }
  if (status >= 500) {
    const what = "a proxy on the way has no answer of the management server";
    return { kind: "unreachable", word: "serverError", what, advice: "try again later" };
  }
  if (status === 401 || status === 403) {
    const what = "not CloudStack but something on the way refuses";
    return { kind: "denied", word: "denied", what, advice: "check api-url, and the proxy" };
  }
  if (isDamaged) {
    const what = "something on the way may have cut it off";
    const advice = "look at the size and time limits of the proxy";
    return { kind: "protocol", word: "damaged", what, advice };
  }
  const what = "this is not CloudStack's API";
  const advice = "check api-url, which usually ends in /client/api";
  return { kind: "protocol", word: "wrongService", what, advice };
}

/** Lists the raw objects that are not among those that could be read. What is no object has no fields. */
export function listUnreadable(
  raw: readonly unknown[],
  readable: readonly { readonly id: string }[],
): readonly Body[] {
  // Objects that are listed twice are one readable object, unless they differ.
  if (raw.length === readable.length) return [];
  const ids = new Set(readable.map(({ id }) => id));
  const isReadable = (one: unknown): boolean =>
    isFields(one) && typeof one["id"] === "string" && ids.has(one["id"].toLowerCase());
  return raw.flatMap((one) => (isReadable(one) ? [] : [isFields(one) ? one : {}]));
}
