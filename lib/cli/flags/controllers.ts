/**
 * `--controllers`: which controllers run.
 * @module
 */
import type { ControllerDefinition } from "../../controllers/definition.ts";
import { CONTROLLERS } from "../../controllers/mod.ts";
import type { ConfigIssue } from "../../core/errors.ts";
import { suggest } from "../../core/text/edit_distance.ts";
import { quote } from "../../core/text/printable.ts";

/** A controller's name as users write it. */
export interface ControllerName {
  /** The name in logs and metrics. */
  readonly name: string;
  readonly aliases: readonly string[];
  /** False for controllers of other cloud controller managers that Landfall does not have. */
  readonly isAvailable: boolean;
  /** Whether `*` does not choose it, so that the list must name it. @default {false} */
  readonly isOffByDefault?: boolean;
}

/**
 * The Go controllers (k8s.io/cloud-provider, `names`) in their order: known whether or not Landfall has them, so
 * that existing `--controllers` lists work.
 */
const GO_CONTROLLERS: readonly Omit<ControllerName, "isAvailable">[] = [
  { name: "cloud-node", aliases: ["cloud-node-controller"] },
  { name: "cloud-node-lifecycle", aliases: ["cloud-node-lifecycle-controller"] },
  { name: "service", aliases: ["service-lb-controller"] },
  { name: "route", aliases: ["node-route-controller"] },
];

/** Every name that `--controllers` accepts: those of Go first, then the others of Landfall. */
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

/** The names with the controllers that Landfall has. */
export const CONTROLLER_NAMES: readonly ControllerName[] = listControllerNames(CONTROLLERS);

/** How documents describe a controller that `*` leaves out. */
export const OFF_BY_DEFAULT = "off until chosen by name";

/** Which controllers run, and what is wrong with the list. */
interface ControllerSelection {
  /** Names, not aliases. */
  readonly enabled: ReadonlySet<string>;
  /** Those of them that the list names itself, not only by `*`. */
  readonly named: ReadonlySet<string>;
  readonly warnings: readonly string[];
  readonly issues: readonly ConfigIssue[];
}

/**
 * Reads a list of `*`, `foo` and `-foo`. The first item that names a controller decides. A controller that no item
 * names runs if `*` is in the list and the controller is not off by default.
 *
 * @param items The items in their order; repeats of the flag add up
 * @param known The known controllers
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
      const names = known.flatMap(({ name, aliases }) => [name, ...aliases]);
      const hint = suggest(written, names);
      const message = `unknown controller ${quote(written)}${hint} (known: ${listNames(known)})`;
      issues.push({ source: "--controllers", message });
    } else if (!decided.has(found.name)) decided.set(found.name, isWanted);
  }
  const isRest = items.includes("*");
  const isChosen = ({ name, isOffByDefault = false }: ControllerName): boolean =>
    decided.get(name) ?? (isRest && !isOffByDefault);
  const enabled = known.filter((one) => one.isAvailable && isChosen(one)).map(({ name }) => name);
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
