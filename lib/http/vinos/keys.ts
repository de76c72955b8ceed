/**
 * Names of Vinos in paths.
 * @module
 */
import type { VinoView } from "./views.ts";

/** `namespace/name`. */
export function toVinoKey({ namespace, name }: Pick<VinoView, "name" | "namespace">): string {
  return `${namespace}/${name}`;
}

/**
 * Path of the page of a Vino.
 *
 * @param base Path to `/debug/` from the page that links
 * @param key `namespace/name`
 */
export function toVinoPath(base: string, key: string): string {
  const parts = key.split("/").map((part) => encodeURIComponent(part.toWellFormed()));
  return `${base}vinos/${parts.join("/")}`;
}

/** The same, with only one machine. */
export function toMachinePath(base: string, key: string, machine: string): string {
  return `${toVinoPath(base, key)}?machine=${encodeURIComponent(machine.toWellFormed())}`;
}
