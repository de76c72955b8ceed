/**
 * Switches for the failures of an API server.
 * @module
 */
import type { RequestFacts } from "./requests/log.ts";

/** A refusal of some requests. Members that are absent match every request. */
export interface FaultRule {
  /** `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`. */
  readonly verb?: string;
  /** Plural name, with the subresource when there is one: `nodes`, `nodes/status`. */
  readonly resource?: string;
  /** Name of the object. */
  readonly name?: string;
  /** HTTP status: 401, 403, 404, 409, 410, 429, 500, 503, … */
  readonly status: number;
  /** `reason` of the Status. @default the usual one of the status */
  readonly reason?: string;
  /** @default a text that names the status */
  readonly message?: string;
  /** Header Retry-After. */
  readonly retryAfterSeconds?: number;
  /** How many requests it refuses before it ends. @default no end */
  readonly times?: number;
}

/** A right that the client lacks. Members that are absent match everything. */
interface Denial {
  /** As in {@linkcode FaultRule}. */
  readonly verb?: string;
  /** As in {@linkcode FaultRule}. */
  readonly resource?: string;
  /** `""` for all namespaces, and for cluster-scoped kinds. */
  readonly namespace?: string;
}

/** How an expired watch is refused: while opening it, or by an ERROR event in the stream. */
type GoneForm = "http" | "stream";

/** Switches of one simulator. */
export class Faults {
  /** Milliseconds that every request waits before it is answered. @default 0 */
  delayMs = 0;
  /** Watches stay open but send nothing, bookmarks included. @default false */
  silentWatches = false;
  /** How a watch from a version that is gone is refused. @default "stream", as on the real server */
  goneForm: GoneForm = "stream";
  readonly #denials = new Set<Denial>();
  #rules: { readonly rule: FaultRule; left: number }[] = [];

  /** Refuses matching requests from now on. Returns a function that ends this. */
  refuse(rule: FaultRule): () => void {
    const entry = { rule, left: rule.times ?? Infinity };
    this.#rules.push(entry);
    return () => {
      this.#rules = this.#rules.filter((other) => other !== entry);
    };
  }

  /**
   * Removes a right from now on: access reviews say no, and such requests get 403. Returns a function that restores the
   * right.
   */
  deny(denial: Denial): () => void {
    this.#denials.add(denial);
    return () => this.#denials.delete(denial);
  }

  /** Whether a right was removed. */
  denies(wanted: Required<Denial>): boolean {
    return [...this.#denials].some(
      ({ verb = wanted.verb, resource = wanted.resource, namespace = wanted.namespace }) =>
        verb === wanted.verb && resource === wanted.resource && namespace === wanted.namespace,
    );
  }

  /** Ends all rules and switches. */
  clear(): void {
    this.#denials.clear();
    this.#rules = [];
    this.delayMs = 0;
    this.silentWatches = false;
    this.goneForm = "stream";
  }

  /** The first rule that refuses this request; counts it as used. */
  take(request: Pick<RequestFacts, "verb" | "resource" | "name">): FaultRule | undefined {
    const entry = this.#rules.find(({ rule, left }) => left > 0 && matches(rule, request));
    if (entry === undefined) return undefined;
    entry.left -= 1;
    return entry.rule;
  }
}

function matches(
  rule: FaultRule,
  request: Pick<RequestFacts, "verb" | "resource" | "name">,
): boolean {
  return (
    (rule.verb === undefined || rule.verb === request.verb) &&
    (rule.resource === undefined || rule.resource === request.resource) &&
    (rule.name === undefined || rule.name === request.name)
  );
}
