/**
 * A proxy before an API server at which a test can wait for one request, and do something before or after it.
 * @module
 */
import type { Cluster } from "../process/cluster.ts";

/** A request on its way. */
export interface Passing {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
}

/** What a test does at a request. */
interface Stop {
  /** Whether this is the request; called for each, in their order. */
  fits(request: Passing): boolean;
  /** Before the API server gets it, or before its sender gets the answer. */
  readonly when: "before" | "after";
  /** The request, or the answer, goes on when this is over, unless it says `false`: then it never does. */
  meet(request: Passing): Promise<boolean> | boolean;
}

const UNAVAILABLE = 503;

/** The proxy. */
export class ApiGate implements AsyncDisposable {
  readonly #server: Bun.Server<undefined>;
  readonly #cluster: Cluster;
  readonly #ca: string;
  readonly #watchDelayMs: number;
  #stop: Stop | undefined;

  private constructor(cluster: Cluster, ca: string, watchDelayMs: number) {
    this.#cluster = cluster;
    this.#ca = ca;
    this.#watchDelayMs = watchDelayMs;
    this.#server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      // Watches may be silent.
      idleTimeout: 0,
      fetch: (request) => this.#pass(request),
    });
  }

  /**
   * Starts it. It passes everything on.
   *
   * @param watchDelayMs How much later watches arrive. @default {0}
   */
  static async start(cluster: Cluster, watchDelayMs = 0): Promise<ApiGate> {
    return new ApiGate(cluster, await Bun.file(cluster.caPath).text(), watchDelayMs);
  }

  /** For a kubeconfig. */
  get url(): string {
    return `http://127.0.0.1:${this.#server.port}`;
  }

  /** Stops once, at the next request that fits. */
  stopAt(stop: Stop): void {
    this.#stop = stop;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.stop(true);
  }

  async #pass(request: Request): Promise<Response> {
    const { pathname: path, search } = new URL(request.url);
    const { method, signal } = request;
    const passing = { method, path };
    const stop = this.#stop?.fits(passing) === true ? this.#stop : undefined;
    if (stop) this.#stop = undefined;
    if (stop?.when === "before" && !(await stop.meet(passing))) return lost();
    const headers = new Headers(request.headers);
    headers.delete("host");
    headers.delete("accept-encoding");
    const body = method === "GET" ? null : await request.arrayBuffer();
    const tls = { ca: this.#ca };
    const target = `${this.#cluster.url}${path}${search}`;
    const response = await fetch(target, { method, headers, body, signal, tls });
    const isLost = stop?.when === "after" && !(await stop.meet(passing));
    if (isLost) return lost();
    const isHeld = this.#watchDelayMs > 0 && search.includes("watch=");
    return isHeld ? delay(response, this.#watchDelayMs) : response;
  }
}

/** The same answer, each part of it so much later. */
function delay(response: Response, ms: number): Response {
  const reader = response.body?.getReader();
  if (reader === undefined) return response;
  const body = new ReadableStream<Uint8Array>({
    start: async (to) => {
      // The client may close the stream at any time.
      const later = (act: () => void): unknown =>
        setTimeout(() => {
          try {
            act();
          } catch {
            void reader.cancel().catch(() => undefined);
          }
        }, ms);
      const read = async (): Promise<void> => {
        for (;;) {
          const { done, value } = await reader.read();
          if (done) break;
          later(() => to.enqueue(value));
        }
      };
      void read()
        .catch(() => undefined)
        .then(() => later(() => to.close()));
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return new Response(body, { status: response.status, headers: response.headers });
}

function lost(): Response {
  return new Response(null, { status: UNAVAILABLE });
}
