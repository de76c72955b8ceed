/**
 * Answers in the form CloudStack gives them: one key around everything, errors under the status of their code.
 * @module
 */

/** A refused or failed command: the HTTP status, which is also `errorcode`, and the text. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly code: number;
  /** The class of the server's exception. */
  readonly csCode: number;

  constructor(code: number, text: string, csCode: number = 9999) {
    super(text);
    this.code = code;
    this.csCode = csCode;
  }
}

/** A parameter that names no object, in the server's words. */
export function toUnknownEntity(command: string, name: string, value: string): ApiError {
  const text =
    `Unable to execute API command ${command.toLowerCase()} due to invalid value. Invalid parameter ${name} ` +
    `value=${value} due to incorrect long value format, or entity does not exist or due to incorrect parameter ` +
    "annotation for the field in api cmd class.";
  return new ApiError(431, text);
}

/** A parameter with a value that the command refuses. */
export function toInvalid(text: string): ApiError {
  return new ApiError(431, text, 4350);
}

/** An internal error; only administrators are shown its text. */
export function toHidden(): ApiError {
  return new ApiError(
    530,
    "Internal error executing command, please contact your system administrator",
    4250,
  );
}

/** The 401 of a request whose signature, key or time is not accepted. It does not say which. */
export function toUnverified(): ApiError {
  return new ApiError(401, "unable to verify user credentials and/or request signature");
}

/** One page of a list: the objects under the key of their kind, and how many there are on all pages. */
export interface ListPage {
  readonly key: string;
  readonly count: number;
  readonly items: readonly object[];
}

/** The inner object of a list: nothing at all when it is empty, only the count beyond the last page. */
export function toListBody({ key, count, items }: ListPage): object {
  if (count === 0) return {};
  return items.length === 0 ? { count } : { count, [key]: items };
}

/** The outer keys that do not follow from the command. */
const ENVELOPE_KEYS: ReadonlyMap<string, string> = new Map([
  ["createLBStickinessPolicy", "createLBStickinessPolicy"],
  ["deleteLBStickinessPolicy", "deleteLBstickinessrruleresponse"],
  ["updateNetworkACLItem", "createnetworkaclresponse"],
]);

/** The outer key of an answer to a command. */
export function toEnvelopeKey(command: string): string {
  return ENVELOPE_KEYS.get(command) ?? `${command.toLowerCase()}response`;
}

/** The inner object of an error. */
export function toErrorBody({ code, csCode, message }: ApiError): object {
  const cs = code === 401 ? {} : { cserrorcode: csCode };
  return { uuidList: [], errorcode: code, ...cs, errortext: message };
}

/** How an answer is written. */
export interface ReplyOptions {
  /** Content type of JSON: newer servers say `application/json`, older ones `text/javascript`. */
  readonly jsonType: string;
  /** Milliseconds since the epoch, for the header `Date`; absent without a proxy that adds one. */
  readonly nowMs?: number;
}

/** An answer with one key, in JSON; the real server needs `response=json` for that. */
export function toReply(
  key: string,
  body: object,
  { jsonType, nowMs }: ReplyOptions,
  status: number = 200,
): Response {
  const text = JSON.stringify({ [key]: body });
  const headers = new Headers({
    "content-type": jsonType,
    "content-length": String(Buffer.byteLength(text)),
  });
  if (nowMs !== undefined) headers.set("date", new Date(nowMs).toUTCString());
  if (status !== 200 && "errortext" in body) {
    headers.set("x-description", String(body.errortext).replaceAll(/[^ -~]/g, "?"));
  }
  return new Response(text, { status, headers });
}

/** A page of another server in between, such as a proxy without a backend. */
export function toHtml(status: number, title: string): Response {
  const text = `<html>\r\n<head><title>${title}</title></head>\r\n<body><h1>${title}</h1></body>\r\n</html>\r\n`;
  return new Response(text, { status, headers: { "content-type": "text/html" } });
}
