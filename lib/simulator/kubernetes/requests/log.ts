/**
 * The requests to the simulated API server.
 * @module
 */

/** One request. */
export interface RequestFacts {
  /** HTTP method. */
  readonly method: string;
  /** Path without the query. */
  readonly path: string;
  /** Query with its question mark, or `""`. */
  readonly query: string;
  /**
   * `get`, `list`, `watch`, `create`, `update`, `patch`, `delete` or `deletecollection`; `get` for paths that are no
   * object.
   */
  readonly verb: string;
  /** Plural name, with the subresource when there is one: `nodes/status`. `""` for a path of no object. */
  readonly resource: string;
  /** Name of the object, or `""`. */
  readonly name: string;
  readonly userAgent: string;
  readonly contentType: string;
}

/** What requests are counted by. */
const FACTS = ["method", "path", "verb", "resource", "name", "userAgent", "contentType"] as const;

/** Which requests to count. Members that are absent match every request. */
type RequestFilter = Partial<Omit<RequestFacts, "query">>;

/** Requests since the start or the last clear. Counts are exact; the list keeps the newest {@linkcode ENTRIES_MAX}. */
export class RequestLog {
  /** The newest requests, oldest first. */
  get entries(): readonly RequestFacts[] {
    return this.#entries;
  }

  /** Number of requests by verb and resource: `patch nodes/status`. */
  get counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }

  #entries: RequestFacts[] = [];
  readonly #counts = new Map<string, number>();

  add(request: RequestFacts): void {
    const key = request.resource === "" ? request.path : `${request.verb} ${request.resource}`;
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
    this.#entries.push(request);
    if (this.#entries.length > ENTRIES_MAX * 2) this.#entries.splice(0, ENTRIES_MAX);
  }

  /** How many of the kept entries match. */
  count(filter: RequestFilter): number {
    const names = FACTS.filter((name) => filter[name] !== undefined);
    return this.#entries.filter((entry) => names.every((name) => entry[name] === filter[name]))
      .length;
  }

  /** Removes all requests. */
  clear(): void {
    this.#entries = [];
    this.#counts.clear();
  }
}

/** How many requests the log keeps at least. */
const ENTRIES_MAX = 20_000;
