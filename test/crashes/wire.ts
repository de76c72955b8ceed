/**
 * The ways from one process to its two servers, in memory. Every request is counted, and can be the last one of the
 * process.
 * @module
 */
import { abortable } from "../../lib/core/abortable.ts";
import type { Transport, TransportRequest } from "../../lib/kube/api/transport.ts";
import { isRead } from "../../lib/simulator/cloudstack/commands/mod.ts";
import type { Outcome } from "../../lib/simulator/loopback.ts";

/** When a process dies: at its request of this number, before or after the server carried it out. */
export interface Cut {
  /** From 1. */
  readonly at: number;
  readonly when: "before" | "after";
}

/** A request that was counted. */
export interface Counted {
  /** `associateIpAddress`, `PATCH /api/v1/namespaces/default/services/web/status`. */
  readonly what: string;
  /** Whether it can change something: then it matters whether the server carried it out. */
  readonly isChange: boolean;
  /** Whether it goes to the cloud, and not to Kubernetes. */
  readonly isOfCloud: boolean;
}

const NEVER = new Promise<never>(() => {});

/** Counts the requests of one process, and ends them all at its cut. */
export class Wire {
  #cut: Cut | undefined;
  readonly #onCut: () => void;
  readonly #counted: Counted[] = [];
  #isCounting = false;
  #underWay = 0;
  /** Whether the process is dead: none of its requests arrives any more. */
  isCut = false;

  constructor(onCut: () => void) {
    this.#onCut = onCut;
  }

  /** Every request since the last {@linkcode startCounting}. */
  get counted(): readonly Counted[] {
    return this.#counted;
  }

  /** How many requests wait for an answer, without watches. */
  get underWay(): number {
    return this.#underWay;
  }

  /** Counts from now on, from zero. @param cut Absent: the process lives on */
  startCounting(cut?: Cut): void {
    this.#isCounting = true;
    this.#counted.length = 0;
    this.#cut = cut;
  }

  /** Sends one request. A server that is asked by a dead process is not asked. */
  async send<T>(
    counted: Counted | undefined,
    serve: () => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    signal.throwIfAborted();
    if (this.isCut) return await abortable(NEVER, signal);
    const number = this.#count(counted);
    const isLast = number !== undefined && number === this.#cut?.at;
    if (isLast && this.#cut?.when === "before") return await this.#die(signal);
    this.#underWay += 1;
    try {
      const served = serve();
      if (isLast) {
        await served;
        return await this.#die(signal);
      }
      const answer = await abortable(served, signal);
      return this.isCut ? await abortable(NEVER, signal) : answer;
    } finally {
      this.#underWay -= 1;
    }
  }

  #count(counted: Counted | undefined): number | undefined {
    if (counted === undefined || !this.#isCounting) return undefined;
    this.#counted.push(counted);
    return this.#counted.length;
  }

  async #die(signal: AbortSignal): Promise<never> {
    this.isCut = true;
    this.#onCut();
    return await abortable(NEVER, signal);
  }
}

/** Connects a client of Kubernetes to a server in memory. Reads of Kubernetes do not count: they cannot leak. */
export function createMemoryTransport(
  wire: Wire,
  answer: (request: Request) => Promise<Response>,
): Transport {
  return {
    host: "memory",
    generation: 0,
    giveUp: () => undefined,
    close: () => undefined,
    send: async ({ method, path, headers, body }: TransportRequest, _credential, signal) => {
      const init = { method, headers: { ...headers }, ...(body !== undefined && { body }) };
      const request = new Request(`http://kubernetes.memory${path}`, init);
      const isEvent = path.includes("/events");
      const counted =
        method === "GET" || isEvent
          ? undefined
          : { what: `${method} ${path}`, isChange: true, isOfCloud: false };
      const reply = await wire.send(counted, () => answer(request), signal);
      return path.includes("watch=") ? toAbortable(reply, signal) : reply;
    },
  };
}

/** A stream that ends with its signal, as that of a socket does. */
function toAbortable(response: Response, signal: AbortSignal): Response {
  const { status, headers, body } = response;
  if (body === null) return response;
  const reader = body.getReader();
  const stream = new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        const abort = (): void => {
          controller.error(signal.reason);
          reader.cancel().catch(() => undefined);
        };
        if (signal.aborted) abort();
        else signal.addEventListener("abort", abort, { once: true });
      },
      pull: async (controller) => {
        const { value } = await reader.read();
        if (signal.aborted) return;
        if (value === undefined) controller.close();
        else controller.enqueue(value);
      },
      cancel: () => void reader.cancel().catch(() => undefined),
    },
    { highWaterMark: 0 },
  );
  return new Response(stream, { status, headers });
}

/** Answers requests to CloudStack. */
export async function askCloud(
  wire: Wire,
  request: Request,
  answer: (request: Request, command: string) => Promise<Outcome>,
): Promise<Outcome> {
  const text = request.method === "POST" ? await request.clone().text() : request.url;
  const command = /[?&]?command=(\w+)/.exec(text)?.[1] ?? "?";
  const counted = { what: command, isChange: !isRead(command), isOfCloud: true };
  return await wire.send(counted, () => answer(request, command), request.signal);
}
