/**
 * Loads only the chosen controllers.
 * @module
 */
import type { ProviderInstall } from "../cloud/provider_definition.ts";
import {
  findSettings,
  type SectionValues,
  type SettingsSection,
} from "../cloud/settings/schema.ts";
import type { ConfigIssue } from "../core/errors.ts";
import type { ControllerDefinition, ControllerModule } from "./definition.ts";

/** A chosen controller, and its code. */
export interface LoadedController {
  readonly definition: ControllerDefinition;
  readonly module: ControllerModule;
}

/** Lists the controllers that `*` chooses. */
export function listOnByDefault(
  registry: readonly ControllerDefinition[],
): readonly ControllerDefinition[] {
  return registry.filter(({ isOffByDefault = false }) => !isOffByDefault);
}

/**
 * Lists the controllers that the manifests of a cloud start: those that `*` chooses, without those that only some
 * clouds can serve, unless the cloud's definition names them.
 */
export function listInstalled(
  registry: readonly ControllerDefinition[],
  { controllers = [] }: Pick<ProviderInstall, "controllers"> = {},
): readonly ControllerDefinition[] {
  return listOnByDefault(registry).filter(
    ({ name, mayBeLeftOut = false }) => !mayBeLeftOut || controllers.includes(name),
  );
}

/**
 * Whether a controller can be installed by itself, beside an installation for a cloud: it needs no Lease but its own.
 * Then a process that runs only such controllers needs none of the rights of the others.
 */
export function isSeparable({
  isOffByDefault = false,
  lease,
}: Pick<ControllerDefinition, "isOffByDefault" | "lease">): boolean {
  return isOffByDefault && lease !== undefined;
}

/** Whether it needs no cloud either, so that it can be installed without any. */
export function isStandalone(
  one: Pick<ControllerDefinition, "isOffByDefault" | "lease" | "needsCloud">,
): boolean {
  return isSeparable(one) && !one.needsCloud;
}

/** Loads controllers; keeps their order. */
export function loadControllers(
  chosen: readonly ControllerDefinition[],
): Promise<LoadedController[]> {
  return Promise.all(
    chosen.map(async (definition) => ({ definition, module: await definition.load() })),
  );
}

/** Lists the sections of the settings file that belong to controllers, whether they run or not. */
export function listSections(registry: readonly ControllerDefinition[]): SettingsSection[] {
  return [...new Set(registry.flatMap(({ section }) => section ?? []))];
}

/** Lists settings that do nothing, because no controller that reads them runs; each with its `path`. */
export function listIdleSettings(
  sections: readonly SettingsSection[],
  values: SectionValues,
  running: readonly Pick<ControllerDefinition, "section">[],
): ConfigIssue[] {
  const read = new Set(running.map(({ section }) => section));
  return sections
    .filter((section) => !read.has(section))
    .flatMap((section) => section.findIdle?.(findSettings(section, values)) ?? []);
}

/**
 * Lists the Leases that a process needs for these controllers, each once. Its own one comes first. It does not need
 * that one if each controller names another; without controllers it does.
 *
 * @param own Name of the Lease of the process
 */
export function listLeases(
  chosen: readonly Pick<ControllerDefinition, "lease">[],
  own: string,
): string[] {
  const names = chosen.map(({ lease = own }) => lease);
  const needsOwn = names.length === 0 || names.includes(own);
  return [...new Set(needsOwn ? [own, ...names] : names)];
}

/** Whether one of these controllers has a section in the settings file. */
export function needsSections(chosen: readonly ControllerDefinition[]): boolean {
  return chosen.some(({ section }) => section !== undefined);
}

/** Whether a process needs the cloud. A process without controllers serves only its pages, which show Nodes. */
export function needsCloud(chosen: readonly Pick<ControllerDefinition, "needsCloud">[]): boolean {
  return chosen.length === 0 || chosen.some((one) => one.needsCloud);
}
