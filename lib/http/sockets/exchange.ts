/**
 * One request and its answer, between the sockets of `node:http` and pages that speak `Request` and `Response`.
 * @module
 */
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import { pipeline } from "node:stream/promises";
import { Readable } from "node:stream";
import { findErrorCode } from "../../core/net/connection_problem.ts";

/** The answer to a request that is not valid HTTP/1.1, or that no page can answer. */
export interface Refusal {
  readonly status: number;
  readonly message: string;
}

const TEXT_TYPE = "text/plain; charset=utf-8";
/** Statuses for errors of the HTTP parser; 400 for all others. */
const RUBBISH: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
};

/**
 * Reads the head of a request. No page accepts a body, so an announced body is refused before it is read.
 *
 * @returns The request, with an address from the Host header and the path; or a refusal
 */
export function readRequest(incoming: IncomingMessage): Request | Refusal {
  const { method = "", url = "", headers } = incoming;
  if (incoming.httpVersionMajor !== 1) {
    return { status: 505, message: "use HTTP/1.1 or HTTP/1.0\n" };
  }
  if (method !== "GET" && method !== "HEAD") {
    return { status: 405, message: "method not allowed\n" };
  }
  if (headers.expect !== undefined && headers.expect.toLowerCase() !== "100-continue") {
    return { status: 417, message: "expectation failed\n" };
  }
  const length = headers["content-length"] ?? "0";
  if (length !== "0" || headers["transfer-encoding"] !== undefined) {
    return { status: 413, message: "send the request without a body\n" };
  }
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

function toAddress(path: string, host = "localhost"): string | undefined {
  if (!path.startsWith("/") || !/^[\w.:[\]-]+$/.test(host)) return undefined;
  const address = `http://${host}${path}`;
  return URL.canParse(address) ? address : undefined;
}

/** The status for an invalid request, by the error of the parser. */
export function toRubbishStatus(complaint: Error): number {
  return RUBBISH[findErrorCode(complaint)] ?? 400;
}

/** A complete answer without a request. The connection ends after it. */
export function formatBareAnswer(status: number): string {
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`;
}

/** Sends a refusal, and closes the connection: the following bytes may be the body. */
export function sendRefusal({ status, message }: Refusal, outgoing: ServerResponse): void {
  outgoing.writeHead(status, {
    "content-type": TEXT_TYPE,
    connection: "close",
    ...(status === 405 && { allow: "GET, HEAD" }),
  });
  outgoing.end(message);
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
