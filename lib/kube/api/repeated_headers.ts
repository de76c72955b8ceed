/**
 * Requests with several values in one header. `fetch` joins them into one text, and the API server takes
 * `Impersonate-Group: a, b` for one strange group; `node:http` sends a line for each. Loaded only when it is needed.
 * @module
 */
import { type IncomingMessage, type RequestOptions, request as requestPlain } from "node:http";
import { request as requestTls } from "node:https";
import { TLS_CIPHERS } from "../../core/net/tls.ts";
import type { TlsSettings } from "../credentials/credentials.ts";

/** One request. */
interface RepeatedRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: string | undefined;
  readonly tls: TlsSettings;
}

/** Replies that have no body by their status. */
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304]);

/**
 * Sends a request on a connection of its own, and resolves with the head of its reply. Follows no redirect. Knows no
 * proxy.
 *
 * @param signal Ends the request, and the body of the reply
 */
export function sendRepeated(
  url: string,
  { method, headers, body, tls }: RepeatedRequest,
  signal: AbortSignal,
): Promise<Response> {
  const { ca, cert, key, serverName, insecure = false } = tls;
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
  const request = url.startsWith("https:")
    ? requestTls(
        url,
        {
          ...options,
          rejectUnauthorized: !insecure,
          ciphers: TLS_CIPHERS,
          ...(ca !== undefined && { ca }),
          ...(cert !== undefined && key !== undefined && { cert, key }),
          ...(serverName !== undefined && { servername: serverName }),
        },
        take,
      )
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
