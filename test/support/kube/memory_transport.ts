/**
 * The way from a client to a simulated API server in this process, without sockets: they would take much of the time of
 * a test, and a busy machine delays them. Rigs of whole controllers use it. Tests of the client and of whole programs
 * use sockets.
 * @module
 */
import { abortable } from "../../../lib/core/clock.ts";
import { toTransportError, type Transport } from "../../../lib/kube/api/request.ts";
import type { KubernetesSimulator } from "../../../lib/simulator/kubernetes/mod.ts";

/** Connects to a server. */
export function toMemoryTransport({ url, answer }: KubernetesSimulator): Transport {
  return {
    host: new URL(url).host,
    generation: 0,
    giveUp: () => undefined,
    async send({ path, ...sent }, _credential, signal) {
      try {
        signal.throwIfAborted();
        const response = await abortable(answer(new Request(url + path, sent)), signal);
        return isWatch(path) ? toArriving(response, signal) : response;
      } catch (error) {
        throw toTransportError(error, signal, "the API server");
      }
    },
    close: () => undefined,
  };
}

function isWatch(path: string): boolean {
  return /[?&]watch=/.test(path);
}

/** A watch breaks off when the client hangs up. */
function toArriving({ body, headers, status }: Response, signal: AbortSignal): Response {
  const arriving = body?.pipeThrough(new TransformStream<Uint8Array>(), { signal });
  return new Response(arriving, { status, headers });
}
