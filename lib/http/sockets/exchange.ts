/**
 * One request and its answer, between the sockets of `node:http` and pages that speak `Request` and `Response`.
 * @module
 */
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import { pipeline } from "node:stream/promises";
import { Readable } from "node:stream";
import { findErrorCode } from "../../core/errors.ts";

/** The answer to a request that is not valid HTTP/1.1, or that no page can answer. */
export interface Refusal {
  readonly status: number;
  readonly message: string;
  /** The methods that the server accepts; for the status 405. */
  readonly allow?: string;
}

/** Which requests a server accepts. */
export interface Accepted {
  readonly methods: readonly string[];
  /** The largest body, in bytes. 0: none. */
  readonly bodyBytesMax: number;
  /** Makes the body of a refusal, and its type. @default {its message as text} */
  readonly formatRefusal?: (refusal: Refusal) => { readonly type: string; readonly text: string };
}

/** Requests for pages. */
export const PAGE_REQUESTS: Accepted = { methods: ["GET", "HEAD"], bodyBytesMax: 0 };

const TEXT_TYPE = "text/plain; charset=utf-8";
/** Statuses for errors of the HTTP parser; 400 for all others. */
const RUBBISH: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
};

/**
 * Reads the head of a request. A body that is announced as too large is refused before it is read.
 *
 * @returns The request without its body, with an address from the Host header and the path; or a refusal
 */
export function readRequest(
  incoming: IncomingMessage,
  { methods, bodyBytesMax }: Accepted = PAGE_REQUESTS,
): Request | Refusal {
  const { method = "", url = "", headers } = incoming;
  if (incoming.httpVersionMajor !== 1) {
    return { status: 505, message: "use HTTP/1.1 or HTTP/1.0\n" };
  }
  if (!methods.includes(method)) {
    return { status: 405, message: "method not allowed\n", allow: methods.join(", ") };
  }
  if (headers.expect !== undefined && headers.expect.toLowerCase() !== "100-continue") {
    return { status: 417, message: "expectation failed\n" };
  }
  const hasBody = hasAnnouncedBody(incoming);
  if (hasBody && bodyBytesMax === 0) {
    return { status: 413, message: "send the request without a body\n" };
  }
  // A client that waits for the interim answer 100 sends its body after this one.
  if (hasBody && headers.expect !== undefined) {
    return { status: 417, message: "send the body at once, without Expect\n" };
  }
  if (Number(headers["content-length"] ?? 0) > bodyBytesMax) return tooLarge(bodyBytesMax);
  const given: [string, string][] = [];
  for (const [name, value] of Object.entries(incoming.headersDistinct)) {
    // With two of them, one part of a program could use the first and another part the second.
    if ((name === "host" || name === "authorization") && (value?.length ?? 0) > 1) {
      return { status: 400, message: `more than one header ${name}\n` };
    }
    for (const one of value ?? []) given.push([name, one]);
  }
  const address = toAddress(url, headers.host);
  if (address === undefined) return { status: 400, message: "bad request\n" };
  return new Request(address, { method, headers: given });
}

/**
 * Reads the body of a request whose head was accepted.
 *
 * @returns The request with its body; or a refusal
 * @throws when the connection breaks
 */
export async function readBody(
  request: Request,
  incoming: IncomingMessage,
  { bodyBytesMax }: Accepted,
): Promise<Request | Refusal> {
  if (!hasAnnouncedBody(incoming)) return request;
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of incoming) {
    if (!(chunk instanceof Uint8Array)) return { status: 400, message: "bad request\n" };
    size += chunk.length;
    if (size > bodyBytesMax) return tooLarge(bodyBytesMax);
    chunks.push(chunk);
  }
  if (request.method === "GET" || request.method === "HEAD") return request;
  return new Request(request, { method: request.method, body: Buffer.concat(chunks) });
}

function hasAnnouncedBody({ headers }: IncomingMessage): boolean {
  const length = headers["content-length"] ?? "0";
  return length !== "0" || headers["transfer-encoding"] !== undefined;
}

function tooLarge(bodyBytesMax: number): Refusal {
  return { status: 413, message: `send at most ${bodyBytesMax} bytes\n` };
}

function toAddress(path: string, host = "localhost"): string | undefined {
  if (!path.startsWith("/") || !/^[\w.:[\]-]+$/.test(host)) return undefined;
  const address = `http://${host}${path}`;
  return URL.canParse(address) ? address : undefined;
}

/** The status for an invalid request, by the error of the parser. */
export function toRubbishStatus(complaint: Error): number {
  const code = findErrorCode(complaint);
  // The parser calls rubbish a method, too.
  const isRequest =
    code === "HPE_INVALID_METHOD" && /^[A-Z]+ \/\S* HTTP\/1\.[01]\r\n/.test(toPacket(complaint));
  return isRequest ? 501 : (RUBBISH[code] ?? 400);
}

function toPacket(complaint: Error): string {
  const packet = "rawPacket" in complaint ? complaint.rawPacket : undefined;
  return packet instanceof Uint8Array ? Buffer.from(packet).toString("latin1") : "";
}

/** A complete answer without a request. The connection ends after it. */
export function formatBareAnswer(status: number): string {
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`;
}

/** Sends a refusal, and closes the connection: the following bytes may be the body. */
export function sendRefusal(
  refusal: Refusal,
  outgoing: ServerResponse,
  { formatRefusal }: Pick<Accepted, "formatRefusal"> = {},
): void {
  const { status, message, allow } = refusal;
  const { type, text } = formatRefusal?.(refusal) ?? { type: TEXT_TYPE, text: message };
  outgoing.writeHead(status, {
    "content-type": type,
    connection: "close",
    ...(allow !== undefined && { allow }),
  });
  outgoing.end(text);
}

/**
 * Sends an answer, as fast as the client reads it. Its head is complete when this is called. An answer without a type
 * is sent as text, and browsers must not guess another type: clients choose the names of Nodes and machines.
 *
 * @throws when the connection breaks
 */
export async function sendResponse(response: Response, outgoing: ServerResponse): Promise<void> {
  outgoing.statusCode = response.status;
  for (const [name, value] of response.headers) outgoing.appendHeader(name, value);
  // A Response made of a string has no type yet: Bun's own server would add it.
  if (!outgoing.hasHeader("content-type")) outgoing.setHeader("content-type", TEXT_TYPE);
  outgoing.setHeader("x-content-type-options", "nosniff");
  if (response.body === null) {
    outgoing.end();
    return;
  }
  await pipeline(Readable.from(response.body), outgoing);
}
