/**
 * Failures between a client and Xen Orchestra that can be switched on and off.
 * @module
 */

/** A fault that replaces an answer. */
export type Fault =
  /** The connection is reset without an answer. */
  | { readonly kind: "reset" }
  /** The request is never answered; the connection stays open. */
  | { readonly kind: "hang" }
  /** The head and half of the right body are sent, then the connection ends. */
  | { readonly kind: "halfBody" }
  /** The right answer, this many milliseconds late. */
  | { readonly kind: "delay"; readonly ms: number }
  /** A status with the JSON error that Xen Orchestra sends with it. */
  | { readonly kind: "status"; readonly status: number; readonly retryAfterSeconds?: number }
  /** A page of another server in between; 404 is the page of an unknown route. */
  | { readonly kind: "html"; readonly status: number }
  /** Any JSON: `{}`, `[]`, the 404 of a gateway. */
  | { readonly kind: "json"; readonly status?: number; readonly body: unknown }
  /** A redirect, 302. */
  | { readonly kind: "redirect"; readonly location: string }
  /** The token's user has no rights: lists are empty, single reads give 403. */
  | { readonly kind: "nonAdmin" };

/** The requests that a fault is for; all of them by default. */
export interface FaultScope {
  /** As the counter names it: `GET /vms`, `GET /vms/{id}`; without the method, any method. */
  readonly route?: string;
  /** Only requests with this ID in their path. */
  readonly id?: string;
  /** Ends after this many requests. @default {Infinity} */
  readonly times?: number;
}

interface Switched {
  readonly fault: Fault;
  readonly scope: FaultScope;
  left: number;
}

/** The switches. If several match a request, the one set last counts. */
export class Faults {
  readonly #switched = new Set<Switched>();

  /** Switches a fault on. Returns the function that switches it off. */
  set(fault: Fault, scope: FaultScope = {}): () => void {
    const one: Switched = { fault, scope, left: scope.times ?? Infinity };
    this.#switched.add(one);
    return () => this.#switched.delete(one);
  }

  /** Switches everything off. */
  clear(): void {
    this.#switched.clear();
  }

  /** The fault for a request, which counts as used; `undefined` for a normal answer. */
  take(route: string, path: string): Fault | undefined {
    const fitting = [...this.#switched].filter(({ scope }) => fits(scope, route, path));
    const last = fitting.at(-1);
    if (last === undefined) return undefined;
    last.left -= 1;
    if (last.left <= 0) this.#switched.delete(last);
    return last.fault;
  }
}

function fits({ route, id }: FaultScope, actual: string, path: string): boolean {
  const withoutMethod = actual.slice(actual.indexOf(" ") + 1);
  if (route !== undefined && route !== actual && route !== withoutMethod) return false;
  return id === undefined || path.includes(id);
}
