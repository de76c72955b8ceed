/**
 * What code takes from the machine that it runs on, in the hands of a simulation: chance, and the global `fetch`.
 * @module
 */
import type { Random } from "./random.ts";

/** Answers what is fetched, by the name of the host in the URL. */
export type Fetcher = (request: Request, signal: AbortSignal) => Promise<Response>;

/** Puts both in place. Returns what puts the machine's own back. */
export function takeOver(random: Random, fetcher: Fetcher): () => void {
  const { fetch } = globalThis;
  const { random: chance } = Math;
  const never = new AbortController().signal;
  const fetched = (
    url: Parameters<typeof globalThis.fetch>[0],
    init: RequestInit = {},
  ): Promise<Response> => {
    const { method = "GET", headers, body = null, signal } = init;
    // Built without the signal: what was sent arrives, whoever hangs up.
    const request = new Request(String(url), { method, ...(headers && { headers }), body });
    return fetcher(request, signal ?? never);
  };
  globalThis.fetch = Object.assign(fetched, { preconnect: fetch.preconnect });
  Math.random = random.next;
  return () => {
    globalThis.fetch = fetch;
    Math.random = chance;
  };
}
