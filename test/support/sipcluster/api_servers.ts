/**
 * Servers that stand for the API servers of a tenant's cluster.
 * @module
 */
import { readTls } from "../net/tls_fixtures.ts";

/** Where they listen. */
const PORT = 6443;
/** Longer than a test waits, so that it does not take this for an end that HAProxy made. */
const ASK_MS_MAX = 30_000;

/** One of them. It answers each request with its name. */
export class ApiServer implements AsyncDisposable {
  readonly name: string;
  readonly address: string;
  /** What it answers at /readyz. */
  readyStatus = 200;
  /** How often it was asked at /readyz. */
  readyAsked = 0;
  /** How many requests of /watch are open. */
  watches = 0;
  readonly #held = Promise.withResolvers<void>();
  #server: ReturnType<typeof Bun.serve> | undefined;

  constructor(name: string, address: string) {
    this.name = name;
    this.address = address;
    this.start();
  }

  start(): void {
    this.#server ??= Bun.serve({
      hostname: this.address,
      port: PORT,
      idleTimeout: 0,
      tls: { cert: readTls("server.crt"), key: readTls("server.key") },
      // A health check is HTTP/1.0, without a name of the host.
      fetch: ({ url }) => this.#answer(new URL(url, "https://localhost").pathname),
    });
  }

  /** Answers all requests of /watch. */
  release(): void {
    this.#held.resolve();
  }

  async #answer(path: string): Promise<Response> {
    if (path === "/readyz") {
      this.readyAsked += 1;
      return new Response("", { status: this.readyStatus });
    }
    if (path === "/watch") {
      this.watches += 1;
      await this.#held.promise;
    }
    return new Response(this.name);
  }

  /** Ends it and all its connections, as a machine that dies does. */
  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    await server?.stop(true);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

/** Asks through a load balancer, on a new connection. @throws if there is no answer */
export async function ask(ip: string, path = "/"): Promise<string> {
  const answer = await fetch(`https://${ip}:${PORT}${path}`, {
    headers: { connection: "close" },
    keepalive: false,
    tls: { rejectUnauthorized: false },
    signal: AbortSignal.timeout(ASK_MS_MAX),
  });
  return await answer.text();
}

/** The names in the answers to so many requests, sorted, each once. A request without an answer is `none`. */
export async function listAnswering(ip: string, requests = 12): Promise<string[]> {
  const names = new Set<string>();
  for (let at = 0; at < requests; at += 1) names.add(await ask(ip).catch(() => "none"));
  return [...names].toSorted();
}

/** Asks again and again, on new connections, and tries each request that fails once more. */
export class Client {
  /** Addresses of the load balancers that are asked in turn. */
  endpoints: readonly string[];
  readonly answers: string[] = [];
  /** Why requests that were tried twice had no answer. */
  readonly lost: unknown[] = [];
  #isStopped = false;
  readonly #done: Promise<void>;

  constructor(endpoints: readonly string[]) {
    this.endpoints = endpoints;
    this.#done = this.#run();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#done;
  }

  async #run(): Promise<void> {
    for (let at = 0; !this.#isStopped; at += 1) {
      const askOnce = (): Promise<string> => ask(this.endpoints[at % this.endpoints.length] ?? "");
      try {
        this.answers.push(await askOnce().catch(askOnce));
      } catch (error) {
        this.lost.push(error);
      }
    }
  }
}
