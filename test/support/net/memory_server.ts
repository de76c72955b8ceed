/**
 * A server in the same process, which the global `fetch` reaches without sockets.
 * @module
 */
import { abortable } from "../../../lib/core/clock.ts";
import type { Decide } from "../../../lib/simulator/loopback.ts";
import { toFault, toHalf } from "./outcomes.ts";

/** A request as the server got it. */
interface Arrived {
  readonly headers: Readonly<Record<string, string>>;
}

/** Answers requests to one origin. */
export class MemoryServer {
  readonly origin = "http://cloud.memory";
  /** Requests whose answer is late or never comes. */
  readonly hanging: Set<Arrived> = new Set();
  /** Whether connections are refused. */
  isRefusing = false;
  readonly #decide: Decide;

  constructor(decide: Decide) {
    this.#decide = decide;
  }

  /** Takes requests of the global `fetch` from now on; those to other origins pass. Returns what ends that. */
  serve(): () => void {
    const original = globalThis.fetch;
    const served = (
      input: Parameters<typeof fetch>[0],
      init: RequestInit = {},
    ): Promise<Response> => {
      const url = input instanceof Request ? input.url : String(input);
      return url.startsWith(this.origin) ? this.#fetch(url, init) : original(input, init);
    };
    globalThis.fetch = Object.assign(served, { preconnect: original.preconnect });
    return () => {
      globalThis.fetch = original;
    };
  }

  async #fetch(url: string, init: RequestInit): Promise<Response> {
    const { method = "GET", headers = {}, body = null } = init;
    const signal = init.signal ?? new AbortController().signal;
    signal.throwIfAborted();
    if (this.isRefusing) throw toFault("ECONNREFUSED");
    const request = new Request(url, { method, headers, body });
    const arrived = { headers: Object.fromEntries(request.headers) };
    const onWait = (isWaiting: boolean): void => {
      if (isWaiting && !signal.aborted) this.hanging.add(arrived);
      else this.hanging.delete(arrived);
    };
    try {
      const outcome = await abortable(this.#decide(request, onWait), signal);
      if (outcome.kind === "reset") throw toFault("ECONNRESET");
      if (outcome.kind === "reply")
        return outcome.isHalf ? toHalf(outcome.response) : outcome.response;
      onWait(true);
      return await abortable(NEVER, signal);
    } finally {
      this.hanging.delete(arrived);
    }
  }
}

const NEVER = new Promise<never>(() => {});
