/**
 * Failures between a client and Xen Orchestra that can be switched on and off.
 * @module
 */
import { FaultSwitches, type Limit } from "../fault_switches.ts";

/** A fault that replaces an answer. */
export type Fault =
  /** The connection is reset without an answer. */
  | { readonly kind: "reset" }
  /** The request is carried out, then the connection is reset without an answer. */
  | { readonly kind: "resetAfter" }
  /** The request is carried out and never answered; the connection stays open. */
  | { readonly kind: "hangAfter" }
  /** A proxy sends the request twice, and passes on the second answer. */
  | { readonly kind: "repeat" }
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
export interface FaultScope extends Limit {
  /** As the counter names it: `GET /vms`, `GET /vms/{id}`; without the method, any method. */
  readonly route?: string;
  /** Only requests with this ID in their path. */
  readonly id?: string;
}

/** The switches of the simulated Xen Orchestra. */
export class Faults extends FaultSwitches<Fault, FaultScope> {
  /** The fault for a request, which counts as used; `undefined` for a normal answer. */
  take(route: string, path: string): Fault | undefined {
    return this.takeLast(({ scope }) => fits(scope, route, path));
  }
}

function fits({ route, id }: Partial<FaultScope>, actual: string, path: string): boolean {
  const withoutMethod = actual.slice(actual.indexOf(" ") + 1);
  if (route !== undefined && route !== actual && route !== withoutMethod) return false;
  return id === undefined || path.includes(id);
}
