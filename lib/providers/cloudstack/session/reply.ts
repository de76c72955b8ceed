/**
 * Takes an answer of CloudStack out of its envelope, or says what an unexpected reply means.
 * @module
 */
import { CloudError } from "../../../cloud/errors.ts";
import type { Reply } from "../../../cloud_http/http.ts";
import { shorten, toPlainText } from "../../../core/text/printable.ts";
import { ApiError, type Asked } from "./errors.ts";

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
 * @throws {CloudError} when the reply is not CloudStack's
 */
export function readBody(reply: Reply, asked: Asked): Body {
  const { json, status } = reply;
  const value = json?.value;
  const [body, ...more] = isBlock(value) ? Object.values(value) : [];
  if (json === undefined || !isBlock(body) || more.length > 0) throw toStrange(reply, asked);
  const code = Number(body["errorcode"] ?? status) || status;
  if (code >= 200 && code < 300) return body;
  if (body["errorcode"] === undefined) throw toStrange(reply, asked);
  const text = body["errortext"];
  throw new ApiError({ code, text: typeof text === "string" ? text : "" }, asked);
}

/** The same of the text of an answer that was read before. */
export function parseBody(text: string): Body {
  const value: unknown = JSON.parse(text);
  const [body] = isBlock(value) ? Object.values(value) : [];
  return isBlock(body) ? body : {};
}

/** Whether a value is an object with fields, not a list. */
export function isBlock(value: unknown): value is Body {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A reply that is not CloudStack's: that of a proxy on the way, or of another server. */
function toStrange(reply: Reply, { command }: Asked): CloudError {
  const { status, contentType, retryAfterMs } = reply;
  const type = toPlainText(shorten(contentType || "nothing", TYPE_CHARS_MAX));
  const isJson = isJsonType(contentType);
  const what = isJson && reply.json === undefined ? "damaged JSON" : type;
  const answered = `The server answered ${status} with ${what} to ${command}`;
  const options = { status, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
  if (status === 429) return new CloudError("throttled", `${answered}: too many requests`, options);
  if (status >= 500) {
    const advice = "a proxy on the way has no answer of the management server; try again later";
    return new CloudError("unreachable", `${answered}: ${advice}`, options);
  }
  if (status === 401 || status === 403) {
    const advice = "not CloudStack but something on the way refuses; check api-url, and the proxy";
    return new CloudError("denied", `${answered}: ${advice}`, options);
  }
  const advice =
    isJson && reply.json === undefined
      ? "something on the way may have cut it off"
      : "this is not CloudStack's API; check api-url, which usually ends in /client/api";
  return new CloudError("protocol", `${answered}: ${advice}`, options);
}
