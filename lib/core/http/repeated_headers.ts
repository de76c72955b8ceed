/**
 * Requests with several values in one header. `fetch` joins them into one text, and the API server takes
 * `Impersonate-Group: a, b` for one strange group; `node:http` sends a line for each. Loaded only when it is needed.
 * @module
 */
import { type IncomingMessage, type RequestOptions, request as requestPlain } from "node:http";
import { request as requestTls } from "node:https";
import type { HttpRequest } from "./request.ts";
import { toRuntimeTls } from "./tls.ts";

/** Replies that have no body by their status. */
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304]);

/** Sends a request on a connection of its own, as `sendHttp` does, but knows no proxy. */
export function sendRepeated(
  url: string,
  { method, headers, body, tls, signal }: HttpRequest,
): Promise<Response> {
  const lines = Object.entries(headers).map(([name, value]): [string, string | string[]] => [
    name,
    typeof value === "string" ? value : [...value],
  ]);
  const options: RequestOptions = {
    method,
    signal,
    headers: { ...Object.fromEntries(lines), connection: "close" },
  };
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  const take = (reply: IncomingMessage): void => resolve(toResponse(reply));
  const { serverName: servername, ...secured } = toRuntimeTls(tls);
  const request = url.startsWith("https:")
    ? requestTls(url, { ...options, ...secured, ...(servername && { servername }) }, take)
    : requestPlain(url, options, take);
  request.on("error", reject);
  request.end(body);
  return promise;
}

function toResponse(reply: IncomingMessage): Response {
  const { statusCode: status = 0, rawHeaders } = reply;
  const headers = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    headers.append(rawHeaders[at] ?? "", rawHeaders[at + 1] ?? "");
  }
  if (!BODILESS.has(status)) return new Response(toStream(reply), { status, headers });
  reply.resume();
  return new Response(null, { status, headers });
}

/** The body, as fast as it is read. Who does not want the rest of it ends the connection. */
function toStream(reply: IncomingMessage): ReadableStream<Uint8Array> {
  const pieces: AsyncIterator<Uint8Array> = reply[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await pieces.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
    cancel() {
      reply.destroy();
    },
  });
}
