/**
 * Connections to an API server that do what no good one does: lose one answer, as a crash between two requests does;
 * hold watches back, go on to another server, or show versions that are no numbers.
 * @module
 */
import { KubeError } from "../../../lib/kube/api/errors.ts";
import {
  type Transport,
  type TransportRequest,
  createTransport,
} from "../../../lib/kube/api/request.ts";
import { abortable } from "../../../lib/core/clock.ts";

/** Which request gets no answer. */
export interface LostAnswer {
  /** From 0. */
  readonly at: number;
  /** Whether the server did what it was asked for. */
  readonly isDone: boolean;
}

/** A connection that notes requests, and breaks once, before or after the server did what it was asked for. */
export function loseAnswer(
  transport: Transport,
  sent: TransportRequest[],
  lost: LostAnswer | undefined,
): Transport {
  return {
    host: transport.host,
    get generation() {
      return transport.generation;
    },
    giveUp: (generation) => transport.giveUp(generation),
    close: () => transport.close(),
    async send(request, credential, signal) {
      const isLost = lost?.at === sent.length;
      sent.push(request);
      if (isLost && !lost.isDone) throw new KubeError("unavailable", "the request was lost");
      const reply = await transport.send(request, credential, signal);
      if (!isLost) return reply;
      await reply.arrayBuffer();
      throw new KubeError("unavailable", "the answer was lost");
    },
  };
}

const NUMBERED = /"resourceVersion":"(\d+)"/g;
const NAMED = /"resourceVersion":"v(\d+)"/g;

/** See the module. */
export class BentLine implements Transport {
  readonly host = "bent";
  /** Paths of all requests, with their queries. */
  readonly asked: string[] = [];
  /** Whether versions are like `v7`. */
  readonly #isOpaque: boolean;
  #transport: Transport;
  #released = Promise.resolve();
  #release: () => void = () => undefined;

  constructor(url: string, isOpaque = false) {
    this.#transport = createTransport(url);
    this.#isOpaque = isOpaque;
  }

  get generation(): number {
    return this.#transport.generation;
  }

  /** From now on watches show nothing, until {@linkcode release}. */
  hold(): void {
    const { promise, resolve } = Promise.withResolvers<void>();
    [this.#released, this.#release] = [promise, resolve];
  }

  /** Watches show what they held back, and go on. */
  release(): void {
    this.#release();
  }

  /** Sends what follows to another server. */
  moveTo(url: string): void {
    this.#transport = createTransport(url);
  }

  giveUp(generation: number): void {
    this.#transport.giveUp(generation);
  }

  close(): void {
    this.#transport.close();
  }

  send: Transport["send"] = async (request, credential, signal) => {
    const body = this.#isOpaque && request.body?.replace(NAMED, '"resourceVersion":"$1"');
    const path = this.#isOpaque
      ? request.path.replace("resourceVersion=v", "resourceVersion=")
      : request.path;
    this.asked.push(request.path);
    const sent = { ...request, path, ...(body && { body }) };
    const reply = await this.#transport.send(sent, credential, signal);
    if (reply.body === null) return reply;
    const isWatch = path.includes("watch=1");
    const change = async (
      chunk: Uint8Array,
      to: TransformStreamDefaultController<Uint8Array>,
    ): Promise<void> => {
      if (isWatch) await abortable(this.#released, signal);
      if (!this.#isOpaque) return to.enqueue(chunk);
      const text = Buffer.from(chunk).toString().replace(NUMBERED, '"resourceVersion":"v$1"');
      to.enqueue(Buffer.from(text));
    };
    const { status, headers } = reply;
    const bent = new TransformStream<Uint8Array, Uint8Array>({ transform: change });
    const kept = new Headers(headers);
    kept.delete("content-length");
    return new Response(reply.body.pipeThrough(bent), { status, headers: kept });
  };
}
