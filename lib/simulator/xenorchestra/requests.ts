/**
 * Counts the requests of a simulated Xen Orchestra.
 * @module
 */
import { isCollection } from "./records.ts";

/** Requests by route, with any answer. */
export class RequestCounter {
  readonly #byRoute = new Map<string, number>();

  /** All requests. */
  get total(): number {
    let total = 0;
    for (const count of this.#byRoute.values()) total += count;
    return total;
  }

  /** Number of requests by route: `GET /vms/{id}` → 3. */
  get byRoute(): ReadonlyMap<string, number> {
    return this.#byRoute;
  }

  /** Returns the number of requests for one route. */
  count(route: string): number {
    return this.#byRoute.get(route) ?? 0;
  }

  /** Counts one more request. */
  add(route: string): void {
    this.#byRoute.set(route, this.count(route) + 1);
  }

  /** Sets all counts to zero. */
  reset(): void {
    this.#byRoute.clear();
  }
}

/** Returns the route of a request, without the base path and the IDs: `GET /vms/{id}`. */
export function toRoute(method: string, path: string): string {
  const [first = "", second, ...rest] = path
    .replace(/^\/rest\/v0\//, "")
    .split("/")
    .filter(Boolean);
  const named = isCollection(first) || first === "users" || first === "events";
  const form = second?.endsWith(".raw") ? "{id}.raw" : "{id}";
  const parts = second === undefined ? [first] : [first, named ? form : second, ...rest];
  return `${method} /${parts.join("/")}`;
}
