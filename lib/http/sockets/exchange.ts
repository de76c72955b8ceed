/**
 * One request and its answer, between the sockets of `node:http` and pages that speak `Request` and `Response`.
 * @module
 */
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import { pipeline } from "node:stream/promises";
import { Readable } from "node:stream";
import { findErrorCode } from "../../core/net/connection_problem.ts";

/** A request that is none of HTTP/1.1, or asks for what no page gives. */
export interface Refusal {
  readonly status: number;
  readonly message: string;
}

const TEXT_TYPE = "text/plain; charset=utf-8";
/** Statuses for what the parser of HTTP complains about; 400 for all else. */
const RUBBISH: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
};

/**
 * Reads the head of a request. Nothing here takes a body, so one that is announced is refused before it is read.
 *
 * @returns The request, its address made of the Host header and the path; or why there is none
 */
export function readRequest(incoming: IncomingMessage): Request | Refusal {
  const { method = "", url = "", headers } = incoming;
  if (incoming.httpVersionMajor !== 1) {
    return { status: 505, message: "HTTP/1.1 or HTTP/1.0 is wanted\n" };
  }
  if (method !== "GET" && method !== "HEAD") {
    return { status: 405, message: "method not allowed\n" };
  }
  if (headers.expect !== undefined && headers.expect.toLowerCase() !== "100-continue") {
    return { status: 417, message: "expectation failed\n" };
  }
  const length = headers["content-length"] ?? "0";
  if (length !== "0" || headers["transfer-encoding"] !== undefined) {
    return { status: 413, message: "a request without a body is wanted\n" };
  }
  const given: [string, string][] = [];
  for (const [name, value] of Object.entries(incoming.headersDistinct)) {
    // Two would let one part of a program believe the first and another the second.
    if ((name === "host" || name === "authorization") && (value?.length ?? 0) > 1) {
      return { status: 400, message: `more than one header ${name}\n` };
    }
    for (const one of value ?? []) given.push([name, one]);
  }
  const address = toAddress(url, headers.host);
  if (address === undefined) return { status: 400, message: "bad request\n" };
  return new Request(address, { method, headers: given });
}

function toAddress(path: string, host = "localhost"): string | undefined {
  if (!path.startsWith("/") || !/^[\w.:[\]-]+$/.test(host)) return undefined;
  const address = `http://${host}${path}`;
  return URL.canParse(address) ? address : undefined;
}

/** The status for something that is no request, by the parser's complaint. */
export function toRubbishStatus(complaint: Error): number {
  return RUBBISH[findErrorCode(complaint)] ?? 400;
}

/** A whole answer where there is no request to answer. The connection ends after it. */
export function formatBareAnswer(status: number): string {
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`;
}

/** Sends a refusal, and ends the connection after it: what follows on it may be the body. */
export function sendRefusal({ status, message }: Refusal, outgoing: ServerResponse): void {
  outgoing.writeHead(status, {
    "content-type": TEXT_TYPE,
    connection: "close",
    ...(status === 405 && { allow: "GET, HEAD" }),
  });
  outgoing.end(message);
}

/**
 * Sends an answer, as fast as the other side takes it. Its head is complete when this is called. An answer that names
 * no type is text, and no browser guesses otherwise: names of Nodes and machines are written by others.
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
