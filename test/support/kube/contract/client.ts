/**
 * Bare requests for the contract suite: what goes in is what stands on the wire.
 * @module
 */
import type { CustomKind } from "../../../../lib/simulator/kubernetes/mod.ts";

/** An API server under contract. */
interface ContractTarget {
  readonly baseUrl: string;
  fetch(path: string, init: RequestInit): Promise<Response>;
  /** Makes the server forget all changes so far. */
  compact(): Promise<void>;
  stop(): Promise<void>;
}

/** An API server that serves more kinds when it is told to. */
export interface ContractServer extends ContractTarget {
  /** Makes it serve one more kind, which may take a moment. */
  installKind(kind: CustomKind): Promise<void>;
  /** Makes it remove that kind and its objects, which may take a moment. */
  removeKind(kind: CustomKind): Promise<void>;
}

/** What each group of cases works with; set before the first case runs. */
export interface ContractContext {
  client: ContractClient;
  target: ContractServer;
}

/** An object of which a test reads what it expects. */
export interface WireObject {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly continue?: string;
    readonly remainingItemCount?: number;
    readonly deletionTimestamp?: string;
    readonly [key: string]: unknown;
  };
  readonly kind?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly code?: number;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly items?: readonly WireObject[];
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: unknown;
}

/** One line of a watch. */
export interface WireEvent {
  readonly type: string;
  readonly object: WireObject;
}

/** An answer with its body read. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: WireObject;
}

/** Media types of patches by their short names. */
export const PATCH_TYPES = {
  apply: "application/apply-patch+yaml",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
} as const;

/** Sends requests to a target and reads what comes. */
export class ContractClient {
  readonly #target: ContractTarget;

  constructor(target: ContractTarget) {
    this.#target = target;
  }

  async send(method: string, path: string, body?: unknown, type?: string): Promise<Answer> {
    const headers: Record<string, string> = { accept: "application/json" };
    if (body !== undefined) headers["content-type"] = type ?? "application/json";
    const init = body === undefined ? { method, headers } : { method, headers, body: toText(body) };
    const response = await this.#target.fetch(path, init);
    const answer = await readJson<WireObject>(response);
    return { status: response.status, headers: response.headers, body: answer };
  }

  get(path: string): Promise<Answer> {
    return this.send("GET", path);
  }

  patch(path: string, type: keyof typeof PATCH_TYPES, body: unknown): Promise<Answer> {
    return this.send("PATCH", path, body, PATCH_TYPES[type]);
  }

  /** Reads a watch until `isLast` says so or the server ends it; then closes it. */
  async watch(path: string, isLast: (event: WireEvent) => boolean): Promise<readonly WireEvent[]> {
    const events: WireEvent[] = [];
    for await (const event of this.stream(path)) {
      events.push(event);
      if (isLast(event)) break;
    }
    return events;
  }

  /** Events of a watch as they come. */
  async *stream(path: string): AsyncGenerator<WireEvent, void, undefined> {
    const response = await this.#target.fetch(path, { headers: { accept: "application/json" } });
    const reader = response.body?.getReader();
    if (reader === undefined) return;
    const decoder = new TextDecoder();
    let rest = "";
    try {
      for (;;) {
        const { value, done } = await reader.read();
        if (done) return;
        const lines = (rest + decoder.decode(value, { stream: true })).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) yield JSON.parse(line);
      }
    } finally {
      await reader.cancel();
    }
  }
}

function toText(body: unknown): string {
  return typeof body === "string" ? body : JSON.stringify(body);
}

/** Reads a JSON body that is trusted to have this shape: tests say by what they expect whether it has. */
export async function readJson<T>(response: Response): Promise<T> {
  return JSON.parse(await response.text());
}
