/**
 * A provider whose requests a server in memory answers, and of which every reply can be bent.
 * @module
 */
import { spyOn } from "bun:test";
import { CloudError } from "../../lib/cloud/errors.ts";
import type { Inventory } from "../../lib/cloud/inventory/inventory.ts";
import type { NodeIdentity } from "../../lib/cloud/instance.ts";
import type { Provider } from "../../lib/cloud/provider.ts";
import { abortable } from "../../lib/core/clock.ts";
import { checkReason } from "./mishap.ts";

const never = new AbortController().signal;

/** What becomes of a reply to a request, which its cloud names in its own way; the text is that of its body. */
type Bend = (what: string, reply: Response, text: string) => Response | Promise<Response>;

/** Answers what is fetched from now on. Returns what ends that. */
export function answerFetch(answer: (request: Request) => Promise<Response>): () => void {
  const fetched = (input: unknown, init: RequestInit = {}): Promise<Response> => {
    const { method = "GET", headers = {}, body = null, signal } = init;
    const request = new Request(String(input), { method, headers, body });
    return signal ? abortable(answer(request), signal) : answer(request);
  };
  const spy = spyOn(globalThis, "fetch").mockImplementation(
    Object.assign(fetched, { preconnect: () => {} }),
  );
  return () => void spy.mockRestore();
}

/** A stage. `using` takes it down. */
export abstract class ProviderStage implements AsyncDisposable {
  abstract readonly provider: Provider;
  bend: Bend = (_what, reply) => reply;
  readonly #secrets: readonly string[];
  readonly #endServing: () => void;

  /** @param secrets No message may hold them @param answer Answers a request, and names it */
  constructor(
    secrets: readonly string[],
    answer: (request: Request) => Promise<{ readonly what: string; readonly reply: Response }>,
  ) {
    this.#secrets = secrets;
    this.#endServing = answerFetch(async (request) => {
      const { what, reply } = await answer(request);
      return this.bend(what, reply, await reply.clone().text());
    });
  }

  /** An inventory, or why there is none; anything else that is thrown is a bug. */
  async list(nodes: readonly NodeIdentity[] = []): Promise<Inventory | CloudError> {
    try {
      return await this.provider.listInventory(nodes, never);
    } catch (error) {
      if (error instanceof CloudError) return checkReason(error, this.#secrets);
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#endServing();
    await this.end();
  }

  /** Ends the server and what the provider does by itself. */
  protected abstract end(): Promise<void> | void;
}
