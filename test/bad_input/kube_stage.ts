/**
 * The client of Kubernetes on a transport in memory, of which every answer is the test's.
 * @module
 */
import { describeError } from "../../lib/core/errors.ts";
import type { KubeClient } from "../../lib/kube/api/client.ts";
import { KubeError } from "../../lib/kube/api/errors.ts";
import { createMemoryClient } from "../support/kube/memory_client.ts";
import { ManualClock } from "../support/manual_clock.ts";
import type { TransportRequest } from "../../lib/kube/api/request.ts";

/** Secret that no message may hold. */
export const TOKEN = "geheim-token-43";

/** Answers a request. */
type Answer = (request: TransportRequest, signal: AbortSignal) => Response | Promise<Response>;

/** A client whose requests go to `answer`. */
export function createStage(
  answer: Answer,
  clock: ManualClock = new ManualClock(),
): { readonly client: KubeClient; readonly clock: ManualClock } {
  const client = createMemoryClient(
    async (request, _credential, signal) => await answer(request, signal),
    { clock, token: TOKEN },
  );
  return { client, clock };
}

/** Makes sure that something failed for a reason that is named, shortly and without secrets. */
export function checkReason(error: unknown): KubeError {
  if (!(error instanceof KubeError)) throw error;
  const text = describeError(error);
  if (!/^Cannot \w+ ("|for )/.test(error.message))
    throw new Error(`no words: ${text.slice(0, 500)}`);
  if (text.length > 4_000) throw new Error(`too many words: ${text.length}`);
  if (text.includes(TOKEN)) throw new Error("a secret is shown");
  if ((error.retryAfterMs ?? 0) > 300_000) throw new Error(`a pause of ${error.retryAfterMs} ms`);
  return error;
}

/** A body that comes in these pieces, and then ends, breaks, or stays open until the signal aborts. */
export function toStream(
  pieces: readonly Uint8Array[],
  end: "close" | "break" | AbortSignal = "close",
): ReadableStream<Uint8Array> {
  const left = [...pieces];
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const next = left.shift();
        if (next !== undefined) return controller.enqueue(next);
        if (end === "close") return controller.close();
        if (end === "break") {
          return controller.error(Object.assign(new Error("broke"), { code: "ECONNRESET" }));
        }
        return new Promise<void>((resolve) => {
          end.addEventListener("abort", () => {
            controller.error(end.reason);
            resolve();
          });
        });
      },
    },
    { highWaterMark: 0 },
  );
}
