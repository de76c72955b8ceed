/**
 * What code takes from the machine that it runs on, in the hands of a simulation: chance, UUIDs, the global `fetch` and
 * `WebSocket`.
 * @module
 */
import { toUuid } from "../../../lib/simulator/uuid.ts";
import type { Random } from "../../support/random.ts";
import { type Connector, createSocketClass } from "./socket.ts";

/** Answers what is fetched, by the name of the host in the URL. */
type Fetcher = (request: Request, signal: AbortSignal) => Promise<Response>;

/** Whether a simulation runs: it tells its own `fetch` by this. */
const SIMULATED = Symbol.for("landfall.simulation");

/** Puts all in place. Returns what puts the machine's own back. @param connect Absent: nobody opens a WebSocket */
export function takeOver(random: Random, fetcher: Fetcher, connect?: Connector): () => void {
  const { fetch, WebSocket } = globalThis;
  // Two at a time would draw from each other's chance, and neither could be told again.
  if (SIMULATED in fetch) throw new Error("Cannot simulate: another simulation runs");
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
  const { randomUUID } = crypto;
  globalThis.fetch = Object.assign(fetched, { preconnect: fetch.preconnect, [SIMULATED]: true });
  if (connect) Reflect.set(globalThis, "WebSocket", createSocketClass(connect));
  Math.random = random.next;
  crypto.randomUUID = () => toUuid(`drawn/${random.next()}`) as ReturnType<typeof randomUUID>;
  return () => {
    globalThis.fetch = fetch;
    globalThis.WebSocket = WebSocket;
    Math.random = chance;
    crypto.randomUUID = randomUUID;
  };
}
