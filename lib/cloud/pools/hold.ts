/**
 * How sure it is that a Service has an address.
 * @module
 */

/**
 * How sure it is that a Service has an address, the surest last: its record names it, this process gave it, its status
 * shows it. `disputed`: its status shows it, but another Service was given it before. That proves nothing, but keeps
 * the address from others.
 */
export type Hold = "disputed" | "recorded" | "reserved" | "shown";

const HOLDS: readonly Hold[] = ["recorded", "reserved", "shown"];

/** Whether one hold is surer than another. */
export function isSurer(one: Hold, other: Hold): boolean {
  return other !== "disputed" && HOLDS.indexOf(one) > HOLDS.indexOf(other);
}

/** Whether the status of a Service shows the address that it has in this way. */
export function isShown(hold: Hold): boolean {
  return hold === "shown" || hold === "disputed";
}
