/**
 * Knows what is under way between a controller and its two servers, so that time waits for real I/O.
 * @module
 */
import type { Instance, Provider } from "../../../lib/cloud/provider.ts";
import type { KubeClient, WatchEvent } from "../../../lib/kube/api/client.ts";
import { NODES } from "../../../lib/kube/kinds/node.ts";
import type { KubeObject } from "../../../lib/kube/kinds/resource.ts";
import type { KubernetesSimulator } from "../../../lib/simulator/kubernetes/mod.ts";

/** Turns of the event loop without anything under way, after which nothing will come by itself. */
const QUIET_TURNS = 3;
const PATIENCE_MS = 15_000;
const CHANGE_MS_MAX = 5;
/** Carries the number of a request to the cloud. */
export const NUMBER_HEADER = "x-test-number";

/** A request as the cloud got it. */
interface Numbered {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** What is under way in the cloud. */
export interface CloudTraffic {
  /** Requests whose answer is late or never comes. */
  readonly hanging: ReadonlySet<Numbered>;
  /** Bytes written so far to each stream that is open. @default {it has no streams} */
  readonly streamed?: ReadonlyMap<Numbered, number>;
}

/** The servers that are asked. */
export interface Servers {
  readonly kubernetes: KubernetesSimulator;
  readonly cloud: CloudTraffic;
}

const NO_STREAMS: ReadonlyMap<Numbered, number> = new Map();

/**
 * Counts calls from where they start to where they end, on the side of the client: a request that is still on its way
 * to the server counts. Requests of the cloud are those of the global `fetch`.
 */
export class Traffic {
  #kubeCalls = 0;
  #cloudCalls = 0;
  /** Requests to the cloud under way, by the number that they carry, with their signals. */
  readonly #fetches = new Map<string, AbortSignal | null | undefined>();
  /** Bytes that came of each stream of events, by the same number. */
  readonly #streamed = new Map<string, number>();
  /** Streams of events of which the reader saw no end, by the same number. */
  readonly #open = new Set<string>();
  #lastFetch = 0;
  #wake: () => void = () => {};
  /** Watches of Nodes whose reader is not done. */
  #followers = 0;
  /** Versions of Nodes by name, as the watch brought them. */
  readonly #seen = new Map<string, string | undefined>();
  readonly #onChange: (node: KubeObject) => void;

  /** @param onChange Told of every version of every Node that the watch brings, the last one of those deleted too */
  constructor(onChange: (node: KubeObject) => void) {
    this.#onChange = onChange;
  }

  /** A client whose calls are counted. */
  watchClient(client: KubeClient): KubeClient {
    const count = async <T>(work: Promise<T>): Promise<T> => {
      this.#kubeCalls += 1;
      return await work.finally(() => {
        this.#kubeCalls -= 1;
        this.#wake();
      });
    };
    return {
      read: (...args) => count(client.read(...args)),
      list: async (...args) => {
        const page = await count(client.list(...args));
        if (args[0].plural !== NODES.plural) return page;
        this.#seen.clear();
        for (const item of page.items) this.#see(item);
        return page;
      },
      watch: (...args) => {
        const events = client.watch(...args);
        // What controllers make of other kinds shows in their calls.
        return args[0].plural === NODES.plural ? this.#follow(events) : events;
      },
      create: (...args) => count(client.create(...args)),
      replace: (...args) => count(client.replace(...args)),
      patch: (...args) => count(client.patch(...args)),
      delete: (...args) => count(client.delete(...args)),
      get: (...args) => count(client.get(...args)),
      fencedBy: (fence) => this.watchClient(client.fencedBy(fence)),
      close: () => client.close(),
    };
  }

  /** A provider whose calls are counted. */
  watchProvider(provider: Provider): Provider {
    const { name, providedNodeIps, originLabels, refreshIntervalMs, changes, provenOff } = provider;
    const count = async <T>(work: Promise<T>): Promise<T> => {
      this.#cloudCalls += 1;
      return await work.finally(() => {
        this.#cloudCalls -= 1;
        this.#wake();
      });
    };
    return {
      name,
      providedNodeIps,
      refreshIntervalMs,
      ...(originLabels && { originLabels }),
      listInventory: (...args) => count(provider.listInventory(...args)),
      findInstance: (...args) => provider.findInstance(...args),
      readInstance: (...args) => count(provider.readInstance(...args)),
      ...(provenOff && {
        provenOff: {
          isShownOff: (question) => provenOff.isShownOff(question),
          readPower: (...args) => count(provenOff.readPower(...args)),
        },
      }),
      ...(changes && {
        changes: {
          // Goes on for ever; what it asks for is seen by its requests.
          watchChanges: async (...args) => changes.watchChanges(...args),
          readInstances: (...args) =>
            count(changes.readInstances?.(...args) ?? Promise.resolve(new Map<string, Instance>())),
        },
      }),
    };
  }

  /** Counts requests of the global `fetch` from now on. Returns what ends that. */
  watchFetch(): () => void {
    const original = globalThis.fetch;
    const counted = async (
      url: Parameters<typeof fetch>[0],
      init: RequestInit = {},
    ): Promise<Response> => {
      this.#lastFetch += 1;
      const number = String(this.#lastFetch);
      const headers = new Headers(init.headers);
      headers.set(NUMBER_HEADER, number);
      this.#fetches.set(number, init.signal);
      const response = await original(url, { ...init, headers }).finally(() => {
        this.#fetches.delete(number);
        this.#wake();
      });
      const type = response.headers.get("content-type");
      return type === "text/event-stream" ? this.#countBytes(response, number) : response;
    };
    globalThis.fetch = Object.assign(counted, { preconnect: original.preconnect });
    return () => {
      globalThis.fetch = original;
    };
  }

  /**
   * Waits until nothing is under way but requests that the cloud never answers, and every change of a Node has arrived.
   *
   * @throws Error when that takes too long, saying what is under way
   */
  async rest(servers: Servers): Promise<void> {
    const deadline = performance.now() + PATIENCE_MS;
    for (let quiet = 0; quiet < QUIET_TURNS;) {
      await new Promise((resolve) => setImmediate(resolve));
      const isAtRest = this.#isAtRest(servers);
      quiet = isAtRest ? quiet + 1 : 0;
      // Turning idly would take the processor from those who are waited for.
      if (!isAtRest) await this.#untilChange();
      if (performance.now() > deadline) throw new Error(`No rest: ${this.#describe(servers)}`);
    }
  }

  /** Waits until something ends or arrives; not for long, because the cloud does not tell that it lets hang. */
  #untilChange(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, CHANGE_MS_MAX);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #isAtRest({ kubernetes, cloud }: Servers): boolean {
    if (this.#kubeCalls > 0 || !this.#isAllStreamed(cloud)) return false;
    const isAsking = this.#cloudCalls > 0 || this.#fetches.size > 0;
    if (isAsking && !this.#onlyHang(cloud)) return false;
    // Nobody follows while the controller is stopped.
    if (this.#followers === 0) return true;
    // A watch that is being opened has not brought anything yet.
    if (kubernetes.openWatches === 0) return false;
    const nodes = kubernetes.objects.list("nodes");
    if (nodes.length !== this.#seen.size) return false;
    return nodes.every(
      ({ metadata }) => this.#seen.get(String(metadata["name"])) === metadata["resourceVersion"],
    );
  }

  #countBytes(response: Response, number: string): Response {
    const { status, headers } = response;
    const reader = response.body?.getReader();
    this.#streamed.set(number, 0);
    this.#open.add(number);
    const over = (): void => {
      this.#open.delete(number);
      this.#wake();
    };
    const counted = new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        const next = await reader?.read().catch((error: unknown) => {
          over();
          throw error;
        });
        if (next?.value === undefined) {
          over();
          controller.close();
          return;
        }
        controller.enqueue(next.value);
        this.#streamed.set(number, (this.#streamed.get(number) ?? 0) + next.value.length);
        this.#wake();
      },
      cancel: async (reason) => {
        over();
        await reader?.cancel(reason);
      },
    });
    return new Response(counted, { status, headers });
  }

  /** Whether everything arrived that was written to streams that somebody reads, and the end of those that ended. */
  #isAllStreamed({ streamed = NO_STREAMS }: CloudTraffic): boolean {
    const sent = new Map([...streamed].map(([{ headers }, n]) => [headers[NUMBER_HEADER], n]));
    const isSeen = ([number, bytes]: [unknown, number]): boolean =>
      this.#streamed.get(String(number)) === bytes;
    return [...sent].every(isSeen) && [...this.#open].every((number) => sent.has(number));
  }

  /** Who was told to leave is about to do something else, and may still hang there for a moment. */
  #onlyHang({ hanging }: CloudTraffic): boolean {
    const stuck = new Set([...hanging].map(({ headers }) => headers[NUMBER_HEADER]));
    const isStuck = ([number, signal]: [string, AbortSignal | null | undefined]): boolean =>
      stuck.has(number) && !signal?.aborted;
    return this.#fetches.size > 0 && [...this.#fetches].every(isStuck);
  }

  #describe({ kubernetes, cloud }: Servers): string {
    const nodes = kubernetes.objects.list("nodes").length;
    const calls = `${this.#kubeCalls} calls of Kubernetes, ${this.#cloudCalls} of the cloud`;
    const streams = `${cloud.streamed?.size ?? 0} streams`;
    const requests = `${this.#fetches.size} requests (${cloud.hanging.size} hang), ${streams}`;
    return `${calls} with ${requests}, ${this.#seen.size} of ${nodes} Nodes seen`;
  }

  async *#follow(events: AsyncIterable<WatchEvent>): AsyncGenerator<WatchEvent, void> {
    this.#followers += 1;
    try {
      for await (const event of events) {
        if (isObject(event.object) && event.type !== "BOOKMARK") {
          this.#onChange(event.object);
          if (event.type === "DELETED") this.#seen.delete(event.object.metadata.name);
          else this.#see(event.object);
          this.#wake();
        }
        yield event;
      }
    } finally {
      this.#followers -= 1;
      this.#wake();
    }
  }

  #see({ metadata }: KubeObject): void {
    this.#seen.set(metadata.name, metadata.resourceVersion);
  }
}

function isObject(value: unknown): value is KubeObject {
  return typeof value === "object" && value !== null && "metadata" in value;
}
