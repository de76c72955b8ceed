/**
 * Where a machine is, for people.
 * @module
 */

/** A place that holds machines: a pool, a host, a zone … */
export interface Place {
  /** What the cloud calls such a place. */
  readonly kind: string;
  /** The cloud's own identifier. */
  readonly id: string;
  /** What people call it, when known. */
  readonly name?: string;
}
