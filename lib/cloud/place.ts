/**
 * Where a machine is, for display.
 * @module
 */

/** A place that holds machines: a pool, a host, a zone … */
export interface Place {
  /** What the cloud calls such a place. */
  readonly kind: string;
  /** The cloud's own identifier. */
  readonly id: string;
  /** Its name for operators, when known. */
  readonly name?: string;
}
