/**
 * An API server made of a script: each list and watch takes the next answer, each write asks a function.
 * @module
 */
import type { Clock } from "../../../lib/core/clock.ts";
import type {
  DeleteOptions,
  Follow,
  KubeClient,
  ListPage,
  ListQuery,
  Patch,
  Selection,
  WatchEvent,
  WatchQuery,
} from "../../../lib/kube/api/client.ts";
import type { Store } from "../../../lib/kube/cache/store.ts";
import type { KubeObject, ObjectPath, Resource } from "../../../lib/kube/kinds/resource.ts";

/** One part of a watch: an event, a failure, or time that passes. */
export type WatchPart = WatchEvent | Error | { readonly waitMs: number };

/** Answer to the next request: a page, a watch that ends after its parts, or a failure of either. */
export type ScriptStep =
  | { readonly page: ListPage<KubeObject> }
  | { readonly watch: readonly WatchPart[] }
  | { readonly fail: Error };

/** A write that was asked for. */
export interface Write {
  readonly verb: "create" | "replace" | "patch" | "delete";
  readonly path: ObjectPath;
  readonly type?: Patch["type"];
  readonly body: Readonly<Record<string, unknown>>;
  readonly atMs: number;
}

/** Follows its script, then leaves requests without an answer until their signal aborts. */
export class ScriptedKubeClient implements KubeClient {
  readonly #clock: Clock;
  readonly #script: ScriptStep[];
  #follow: Follow | undefined;
  /** The reads that came in, such as `list limit=500` and `watch rv=900`. */
  readonly requests: string[] = [];
  /** When they came in, in monotonic milliseconds. */
  readonly timesMs: number[] = [];
  readonly watchSeconds: number[] = [];
  readonly writes: Write[] = [];
  /** Answers writes; throws to refuse one. Writes without an answer wait for their signal. */
  onWrite: (write: Write) => Promise<unknown> | unknown = (write) => write.body;

  /** Answers reads of objects; throws to refuse one. */
  answerRead: (path: ObjectPath) => Promise<unknown> | unknown = () => {
    throw new TypeError("the script knows no read");
  };

  /** Answers reads of paths; throws to refuse one. */
  onGet: (path: string) => Promise<unknown> | unknown = () => {
    throw new TypeError("the script knows no get");
  };

  constructor(clock: Clock, script: readonly ScriptStep[] = []) {
    this.#clock = clock;
    this.#script = [...script];
  }

  async list<T extends KubeObject>(
    _resource: Resource<T>,
    query: ListQuery,
    signal: AbortSignal,
  ): Promise<ListPage<T>> {
    const parts = [
      query.namespace === undefined ? "" : ` ns=${query.namespace}`,
      query.limit === undefined ? "" : ` limit=${query.limit}`,
      query.continue === undefined ? "" : ` continue=${query.continue}`,
      toSelectors(query),
    ];
    const step = this.#next(`list${parts.join("")}`);
    if (step === undefined) return untilAborted(signal);
    if ("fail" in step) throw step.fail;
    if ("watch" in step) throw new TypeError("the script has a watch where a list was asked for");
    return step.page as ListPage<T>;
  }

  async *watch<T extends KubeObject>(
    _resource: Resource<T>,
    query: WatchQuery,
    signal: AbortSignal,
  ): AsyncGenerator<WatchEvent> {
    this.watchSeconds.push(query.timeoutSeconds);
    const step = this.#next(`watch rv=${query.resourceVersion}${toSelectors(query)}`);
    if (step === undefined) return untilAborted(signal);
    if ("fail" in step) throw step.fail;
    if ("page" in step) throw new TypeError("the script has a list where a watch was asked for");
    for (const part of step.watch) {
      if (part instanceof Error) throw part;
      if ("waitMs" in part) await this.#clock.sleep(part.waitMs, signal);
      else yield part;
    }
  }

  async create<T extends KubeObject>(
    resource: Resource<T>,
    path: ObjectPath,
    body: object,
    signal: AbortSignal,
  ): Promise<T> {
    const write: Write = { verb: "create", path, body: { ...body }, atMs: this.#now() };
    return this.tell(resource, path, this.#write(write, signal));
  }

  async replace<T extends KubeObject>(
    resource: Resource<T>,
    path: ObjectPath,
    object: T,
    signal: AbortSignal,
  ): Promise<T> {
    const body: Record<string, unknown> = Object.fromEntries(Object.entries(object));
    const write: Write = { verb: "replace", path, body, atMs: this.#now() };
    return this.tell(resource, path, this.#write(write, signal));
  }

  async patch<T extends KubeObject>(
    resource: Resource<T>,
    path: ObjectPath,
    { type, body }: Patch,
    signal: AbortSignal,
  ): Promise<T> {
    const write: Write = { verb: "patch", path, type, body: { ...body }, atMs: this.#now() };
    return this.tell(resource, path, this.#write(write, signal));
  }

  async delete<T extends KubeObject>(
    resource: Resource<T>,
    path: ObjectPath,
    preconditions: DeleteOptions,
    signal: AbortSignal,
  ): Promise<void> {
    const body = { ...preconditions };
    const follower = this.#follow?.(resource, path);
    const write: Write = { verb: "delete", path, body, atMs: this.#now() };
    const left = await this.#write<T | undefined>(write, signal);
    if (left?.metadata?.deletionTimestamp !== undefined) follower?.learn(left);
    else if (preconditions.uid !== undefined) follower?.learnGone(preconditions.uid);
  }

  async read<T extends KubeObject>(resource: Resource<T>, path: ObjectPath): Promise<T> {
    return this.tell(resource, path, Promise.resolve(this.answerRead(path)) as Promise<T>);
  }

  async get(path: string): Promise<unknown> {
    this.requests.push(`get ${path}`);
    this.timesMs.push(this.#now());
    return this.onGet(path);
  }

  /** The script knows no fence. */
  fencedBy(): KubeClient {
    return this;
  }

  /** There is one follower at most. */
  followedBy(follow: Follow): KubeClient {
    this.#follow = follow;
    return this;
  }

  /** Puts all answers about objects into a store, as caches do. */
  feed<K extends KubeObject>(store: Store<K>): void {
    this.followedBy(() => ({
      learn: (answer: KubeObject) => store.learn(answer as K, undefined),
      learnGone: () => undefined,
    }));
  }

  close(): void {}

  /** Tells the follower of an answer. */
  protected async tell<T extends KubeObject>(
    resource: Resource<T>,
    path: ObjectPath,
    answer: Promise<T>,
  ): Promise<T> {
    const follower = this.#follow?.(resource, path);
    const object = await answer;
    follower?.learn(object);
    return object;
  }

  #next(request: string): ScriptStep | undefined {
    this.requests.push(request);
    this.timesMs.push(this.#now());
    return this.#script.shift();
  }

  #now(): number {
    return this.#clock.monotonic();
  }

  async #write<T>(write: Write, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    this.writes.push(write);
    return (await Promise.race([this.onWrite(write), untilAborted(signal)])) as T;
  }
}

function toSelectors({ labelSelector, fieldSelector }: Selection): string {
  const labels = labelSelector === undefined ? "" : ` labels=${labelSelector}`;
  return fieldSelector === undefined ? labels : `${labels} fields=${fieldSelector}`;
}

/** Rejects with the signal's reason once it aborts; a request that nobody answers. */
export function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
