/**
 * A connection to an API server that loses one answer: what a crash between two requests leaves behind.
 * @module
 */
import { KubeError } from "../../../lib/kube/api/errors.ts";
import type { Transport, TransportRequest } from "../../../lib/kube/api/request.ts";

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
