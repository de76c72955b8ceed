/**
 * What code takes from the machine that it runs on, in the hands of a simulation: chance, UUIDs, the global `fetch` and
 * `WebSocket`.
 * @module
 */
import { toUuid } from "../../../lib/simulator/uuid.ts";
import type { Random } from "../../support/random.ts";

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

/** The way to the far end of one WebSocket. What it returns or throws reaches the process as it should. */
export interface Peer {
  open(): Promise<void>;
  /** @returns `undefined` for no answer */
  answer(message: string): Promise<string | undefined>;
}

/** Finds the far end. @param signal Aborts when the process closes the socket */
type Connector = (url: URL, signal: AbortSignal) => Peer;

/** The class that stands where the machine's own `WebSocket` would. */
function createSocketClass(connect: Connector): new (url: string) => EventTarget {
  return class extends EventTarget {
    readonly #closed = new AbortController();
    readonly #peer: Peer;

    constructor(url: string) {
      super();
      this.#peer = connect(new URL(url), this.#closed.signal);
      this.#peer.open().then(
        () => this.#tell(new Event("open")),
        (error: unknown) => this.#fail(error),
      );
    }

    send(text: string): void {
      this.#peer.answer(text).then(
        (data) => data !== undefined && this.#tell(new MessageEvent("message", { data })),
        (error: unknown) => this.#fail(error),
      );
    }

    close(): void {
      this.#closed.abort(new Error("the socket is closed"));
    }

    /** The runtime tells why in a member that the standard does not have. */
    #fail(error: unknown): void {
      this.#tell(Object.assign(new Event("error"), { error }));
    }

    #tell(event: Event): void {
      if (!this.#closed.signal.aborted) this.dispatchEvent(event);
    }
  };
}
