/**
 * `--controllers`: which controllers run.
 * @module
 */
import type { ControllerDefinition } from "../../controllers/definition.ts";
import { CONTROLLERS } from "../../controllers/mod.ts";
import type { ConfigIssue } from "../../core/errors.ts";

/** A controller's name as users write it. */
export interface ControllerName {
  /** The name in logs and metrics. */
  readonly name: string;
  readonly aliases: readonly string[];
  /** False for those of other cloud controller managers that Landfall does not have. */
  readonly isAvailable: boolean;
  /** Whether `*` leaves it out, so that it has to be named. @default {false} */
  readonly isOffByDefault?: boolean;
}

/**
 * The Go controllers (k8s.io/cloud-provider, `names`) in their order: they are known whether or not Landfall has them,
 * so that `--controllers` lists keep working.
 */
const GO_CONTROLLERS: readonly Omit<ControllerName, "isAvailable">[] = [
  { name: "cloud-node", aliases: ["cloud-node-controller"] },
  { name: "cloud-node-lifecycle", aliases: ["cloud-node-lifecycle-controller"] },
  { name: "service", aliases: ["service-lb-controller"] },
  { name: "route", aliases: ["node-route-controller"] },
];

/** Every name that `--controllers` knows: those of Go first, then what Landfall has beside them. */
export function listControllerNames(registry: readonly ControllerDefinition[]): ControllerName[] {
  const ours = new Map(
    registry.map(({ name, aliases, isOffByDefault = false }) => [
      name,
      { name, aliases, isAvailable: true, isOffByDefault },
    ]),
  );
  const known = new Map(GO_CONTROLLERS.map((one) => [one.name, { ...one, isAvailable: false }]));
  return [...new Map([...known, ...ours]).values()];
}

/** Those of Landfall as it is. */
export const CONTROLLER_NAMES: readonly ControllerName[] = listControllerNames(CONTROLLERS);

/** What documents say of a controller that `*` leaves out. */
export const OFF_BY_DEFAULT = "off until chosen by name";

/** Which controllers run, and what to say about the list. */
export interface ControllerSelection {
  /** Names, not aliases. */
  readonly enabled: ReadonlySet<string>;
  /** Those of them that the list names, so that `*` is not why they run. */
  readonly named: ReadonlySet<string>;
  readonly warnings: readonly string[];
  readonly issues: readonly ConfigIssue[];
}

/**
 * Reads a list of `*`, `foo` and `-foo`. The first item that names a controller decides about it; one that none names
 * runs if `*` is anywhere in the list and it is not off by default.
 *
 * @param items The items in their order; repeats of the flag add up
 * @param known The controllers there are
 */
export function selectControllers(
  items: readonly string[],
  known: readonly ControllerName[] = CONTROLLER_NAMES,
): ControllerSelection {
  const issues: ConfigIssue[] = [];
  const decided = new Map<string, boolean>();
  for (const item of items.filter((item) => item !== "*")) {
    const isWanted = !item.startsWith("-");
    const written = isWanted ? item : item.slice(1);
    const found = known.find(({ name, aliases }) => name === written || aliases.includes(written));
    if (found === undefined) {
      issues.push({
        source: "--controllers",
        message: `"${written}" is no controller; there are ${listNames(known)}`,
      });
    } else if (!decided.has(found.name)) decided.set(found.name, isWanted);
  }
  const isRest = items.includes("*");
  const isChosen = ({ name, isAvailable, isOffByDefault = false }: ControllerName): boolean =>
    isAvailable && (decided.get(name) ?? (isRest && !isOffByDefault));
  const enabled = known.filter(isChosen).map(({ name }) => name);
  const named = enabled.filter((name) => decided.get(name) === true);
  const warnings = listWarnings(known, decided, enabled);
  return { enabled: new Set(enabled), named: new Set(named), warnings, issues };
}

function listWarnings(
  known: readonly ControllerName[],
  decided: ReadonlyMap<string, boolean>,
  enabled: readonly string[],
): string[] {
  const missing = known
    .filter(({ name, isAvailable }) => !isAvailable && decided.get(name) === true)
    .map(({ name }) => `--controllers: "${name}" is not part of this version and does not run`);
  return enabled.length > 0 ? missing : [...missing, "--controllers: no controller is enabled"];
}

function listNames(known: readonly ControllerName[]): string {
  return known.map(({ name, aliases }) => [name, ...aliases].join(" = ")).join(", ");
}
