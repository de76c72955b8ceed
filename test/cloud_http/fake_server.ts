/**
 * A server of no cloud in particular, for what is sent to any.
 * @module
 */
import { CloudClient, type Server, type ServerNames } from "../../lib/cloud_http/client.ts";
import { silentLogger } from "../../lib/core/log.ts";
import { MetricsRegistry } from "../../lib/core/metrics.ts";
import { ManualClock } from "../support/manual_clock.ts";

/** What the server and its settings are called here; unlike the fields that hold them. */
export const NAMES: ServerNames = {
  server: "Example Cloud",
  process: "example-server",
  url: "api-url",
  caFile: "ca-file",
  certificateFingerprint: "pin",
};

/** One request as the server saw it. */
interface Seen {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: Headers;
  readonly body: string;
}

type Answer = (seen: Seen) => Response | Promise<Response>;

/** Answers as a test says, and notes each request. */
export class FakeServer {
  readonly seen: Seen[] = [];
  answer: Answer = () => Response.json([]);
  readonly #server: Bun.Server<undefined>;

  constructor(tls?: { readonly cert: string; readonly key: string }, port = 0) {
    this.#server = Bun.serve({
      port,
      hostname: "127.0.0.1",
      ...(tls && { tls }),
      fetch: (request) => this.#handle(request),
    });
  }

  get url(): string {
    return this.#server.url.origin.replace("localhost", "127.0.0.1");
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  async stop(): Promise<void> {
    await this.#server.stop(true);
  }

  async #handle(request: Request): Promise<Response> {
    const { pathname, search } = new URL(request.url);
    const { method, headers } = request;
    const seen = { method, path: pathname + search, headers, body: await request.text() };
    this.seen.push(seen);
    return await this.answer(seen);
  }
}

/** What a {@linkcode CloudClient} lives on, in a test. */
export function toDeps(): {
  readonly clock: ManualClock;
  readonly log: typeof silentLogger;
  readonly metrics: MetricsRegistry;
} {
  return { clock: new ManualClock(), log: silentLogger, metrics: new MetricsRegistry() };
}

/** A client of a server. */
export function createClient(
  server: Pick<Server, "url"> & Partial<Server>,
  deps: ReturnType<typeof toDeps> = toDeps(),
): CloudClient {
  const named = { names: NAMES, provider: "example" };
  return new CloudClient({ insecure: false, ...server }, { ...deps, ...named });
}
