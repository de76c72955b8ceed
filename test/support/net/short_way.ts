/**
 * A way from `fetch` to a simulated server in this process, without sockets: they would take most of the time of a test
 * that asks a cloud for much, and a busy machine delays them. Rigs of what stands far above the wire use it. Tests of
 * the wire, of providers and of whole programs use sockets.
 * @module
 */
import type { Outcome } from "../../../lib/simulator/loopback.ts";

/** What a server does with a request. */
type Serve = (request: Request) => Promise<Outcome>;

/** Servers by the origin of their URLs. */
const ways = new Map<string, Serve>();
/** A way that is left behind leads requests to a server that has ended, once another server gets its port. */
const WAYS_MAX = 4;
const never = new AbortController().signal;
let putBack: () => void = () => {};

/** Leads requests for the origin of a URL to a server, until it is disposed of. */
export function shorten(url: string, serve: Serve): Disposable {
  const { origin } = new URL(url);
  if (ways.size === WAYS_MAX) throw new Error("Cannot test: a rig before this one was not stopped");
  if (ways.size === 0) putBack = takeOver();
  ways.set(origin, serve);
  return {
    [Symbol.dispose]() {
      if (ways.delete(origin) && ways.size === 0) putBack();
    },
  };
}

function takeOver(): () => void {
  const { fetch } = globalThis;
  const fetched = (
    url: Parameters<typeof globalThis.fetch>[0],
    init: RequestInit = {},
  ): Promise<Response> => {
    const serve = ways.get(new URL(String(url)).origin);
    if (serve === undefined) return fetch(url, init);
    const { method = "GET", headers, body = null, signal } = init;
    // Built without the signal: what was sent arrives, although the client hangs up.
    const request = new Request(String(url), { method, ...(headers && { headers }), body });
    return send(serve, request, signal ?? never);
  };
  globalThis.fetch = Object.assign(fetched, { preconnect: fetch.preconnect });
  return () => {
    globalThis.fetch = fetch;
  };
}

/** @throws an error with a code, as of a socket, or the signal's reason */
async function send(serve: Serve, request: Request, signal: AbortSignal): Promise<Response> {
  signal.throwIfAborted();
  const { promise: hungUp, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  try {
    const outcome = await Promise.race([serve(request), hungUp]);
    if (outcome.kind === "hang") return await hungUp;
    if (outcome.kind === "reset") throw toReset();
    return outcome.isHalf ? await toHalf(outcome.response) : toArriving(outcome.response, signal);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

function toReset(): Error {
  return Object.assign(new Error("The socket connection was closed"), { code: "ECONNRESET" });
}

/** The head and half of the body, then the end of the connection. */
async function toHalf(response: Response): Promise<Response> {
  const { status, headers } = response;
  const whole = new Uint8Array(await response.arrayBuffer());
  const half = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(whole.subarray(0, whole.length >> 1));
      controller.error(toReset());
    },
  });
  return new Response(half, { status, headers });
}

/** A body that has no end breaks off when the client hangs up. */
function toArriving(response: Response, signal: AbortSignal): Response {
  const { body, headers, status } = response;
  if (body === null || headers.get("content-type") !== "text/event-stream") return response;
  return new Response(body.pipeThrough(new TransformStream<Uint8Array>(), { signal }), {
    status,
    headers,
  });
}
