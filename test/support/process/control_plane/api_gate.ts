/**
 * A proxy before an API server at which a test can wait for one request, and do something before or after it.
 * @module
 */
import type { Cluster } from "../cluster.ts";

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
  #stop: Stop | undefined;

  private constructor(cluster: Cluster, ca: string) {
    this.#cluster = cluster;
    this.#ca = ca;
    this.#server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      // Watches may be silent.
      idleTimeout: 0,
      fetch: (request) => this.#pass(request),
    });
  }

  /** Starts it. It passes everything on. */
  static async start(cluster: Cluster): Promise<ApiGate> {
    return new ApiGate(cluster, await Bun.file(cluster.caPath).text());
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
    return isLost ? lost() : response;
  }
}

function lost(): Response {
  return new Response(null, { status: UNAVAILABLE });
}
