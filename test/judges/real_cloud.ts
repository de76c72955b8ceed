/**
 * Whether contracts may run on the real cloud that the environment names.
 * @module
 */

/** They make, change and delete there: a shell that only has an address and keys must not be enough. */
export function mayChangeRealCloud(): boolean {
  return process.env["LANDFALL_CHANGE_REAL_CLOUD"] === "yes";
}
