/**
 * The Nodes of every outage: ten in two parts of a cloud, and one more in each whose machine is deleted.
 * @module
 */

/** One of the two parts: a pool, a zone. */
export type PartName = "alpha" | "beta";

/** Labels of a Node. */
export type Labels = Readonly<Record<string, string>>;

/** What the names of machines end in. */
export const SUFFIXES: readonly string[] = ["1", "2", "3", "4", "5", "gone"];
/** Every Node. */
export const FLEET: readonly string[] = ["alpha", "beta"].flatMap((part) =>
  SUFFIXES.map((suffix) => `${part}-${suffix}`),
);
/** Nodes whose machines are there for good. */
export const LIVE: readonly string[] = FLEET.filter((name) => !name.endsWith("gone"));
/** Nodes that are not Ready although their machines run. */
export const FALLEN: readonly string[] = LIVE.filter((name) => name.startsWith("alpha"));
/** The Node whose machine is switched off. */
export const HALTED = "beta-1";
/** Nodes whose machines change in a way that labels follow. */
export const MOVED: readonly string[] = ["alpha-2", "beta-2"];
/** Nodes whose machines are deleted. */
export const GONE: readonly string[] = ["alpha-gone", "beta-gone"];

/** The part that a machine is made in. */
export function toPart(name: string): PartName {
  return name.startsWith("alpha") ? "alpha" : "beta";
}
