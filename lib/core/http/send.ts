/**
 * Sends one HTTP request, to the API server or to a cloud: which TLS, which headers, and how its answer is packed.
 * @module
 */
import { isLoopbackHost } from "../net/ip.ts";
import { BodyError } from "./body.ts";
import { type HttpHeaders, type HttpRequest, isSingle } from "./request.ts";
import { explainDates, type TlsSettings, toRuntimeTls } from "./tls.ts";

/**
 * Sends a request, and resolves with the head of its answer. Follows no redirect: another server would get the
 * credentials. If a certificate has expired or is not valid yet, the error has its dates.
 *
 * @param session Connections that {@linkcode openSession} opened with the same TLS. @default {those of the runtime}
 * @throws {BodyError} when the answer is packed in a way that was not asked for
 * @throws any error of `fetch`, or the signal's reason
 */
export async function sendHttp(
  url: string,
  { headers, body, tls, ...request }: HttpRequest,
  session?: Bun.FetchSession,
): Promise<Response> {
  const { signal } = request;
  signal.throwIfAborted();
  // Other packings are larger, or not known to all runtimes.
  const lines: HttpHeaders = { "accept-encoding": "gzip", ...headers };
  try {
    if (!isSingle(lines)) {
      const { sendRepeated } = await import("./repeated_headers.ts");
      return unpack(await sendRepeated(url, { ...request, headers: lines, body, tls }));
    }
    const answer = await (session?.fetch ?? fetch)(url, {
      ...request,
      headers: lines,
      ...(body !== undefined && { body }),
      ...(session === undefined && { tls: toRuntimeTls(tls), ...toProxy(url) }),
      redirect: "manual",
      // Without this, Bun ends a connection after some silent minutes. Every request has its own deadline.
      timeout: false,
      // The runtime may unpack more at once than is read: half a megabyte becomes 512.
      decompress: false,
    });
    return unpack(answer);
  } catch (error) {
    throw await explainDates(error, url, signal, tls.serverName);
  }
}

/** Connections to one server. @param proxy Absent: that of the environment, if any */
export function openSession(url: string, tls: TlsSettings, proxy?: string): Bun.FetchSession {
  return new Bun.FetchSession({ tls: toRuntimeTls(tls), ...toProxy(url, proxy) });
}

/**
 * A named proxy is for every server. That of the environment is for none on this machine, for example the end of a
 * tunnel.
 */
function toProxy(url: string, proxy?: string): Pick<BunFetchRequestInit, "proxy"> {
  if (proxy !== undefined) return { proxy: { url: proxy, respectNoProxy: false } };
  return isLoopbackHost(new URL(url).hostname) ? { proxy: false } : {};
}

/** The answer, unpacked as much as is read. */
function unpack(answer: Response): Response {
  const { body, headers, status } = answer;
  const packing = headers.get("content-encoding")?.trim().toLowerCase() ?? "";
  if (body === null || packing === "" || packing === "identity") return answer;
  if (packing !== "gzip" && packing !== "x-gzip") {
    body.cancel().catch(() => {});
    throw new BodyError("the answer is packed in a way that was not asked for");
  }
  return new Response(body.pipeThrough(new DecompressionStream("gzip")), { status, headers });
}

/** The longest pause that Landfall accepts from a server. */
const RETRY_AFTER_MS_MAX = 300_000;

/**
 * Reads a Retry-After header: seconds or a date.
 *
 * @param nowMs Wall-clock milliseconds; `NaN` if they are not known
 * @returns Milliseconds from now, five minutes at most; `undefined` without a readable header
 */
export function parseRetryAfter(value: string | null, nowMs: number): number | undefined {
  if (value === null) return undefined;
  // `Date.parse` accepts almost anything. An HTTP date begins with a weekday.
  const ms = /^\s*\d+\s*$/.test(value)
    ? Number(value) * 1_000
    : (/^\s*[A-Z][a-z]{2}/.test(value) ? Date.parse(value) : Number.NaN) - nowMs;
  return Number.isNaN(ms) ? undefined : toPauseMs(ms);
}

/** The pause that a server asks for, within what Landfall accepts. */
export function toPauseMs(ms: number): number {
  return Math.min(Math.max(0, ms), RETRY_AFTER_MS_MAX);
}
