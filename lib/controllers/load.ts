/**
 * Loads the controllers that were chosen, and no others.
 * @module
 */
import type { SettingsSection } from "../cloud/settings/section.ts";
import type { ControllerDefinition, ControllerModule } from "./definition.ts";

/** A controller that was chosen, and what runs it. */
export interface LoadedController {
  readonly definition: ControllerDefinition;
  readonly module: ControllerModule;
}

/** Those that `*` chooses. */
export function listOnByDefault(
  registry: readonly ControllerDefinition[],
): readonly ControllerDefinition[] {
  return registry.filter(({ isOffByDefault = false }) => !isOffByDefault);
}

/** Loads controllers, in their order. */
export function loadControllers(
  chosen: readonly ControllerDefinition[],
): Promise<LoadedController[]> {
  return Promise.all(
    chosen.map(async (definition) => ({ definition, module: await definition.load() })),
  );
}

/** The sections that controllers bring to the settings file, also those of controllers that do not run. */
export function listSections(registry: readonly ControllerDefinition[]): SettingsSection[] {
  return [...new Set(registry.flatMap(({ section }) => section ?? []))];
}

/** Whether one of these controllers reads the settings file, with any cloud. */
export function needsSections(chosen: readonly ControllerDefinition[]): boolean {
  return chosen.some(({ section }) => section !== undefined);
}

/** Whether a process has to know the cloud. One without any controller is there for its pages, which tell of Nodes. */
export function needsCloud(chosen: readonly Pick<ControllerDefinition, "needsCloud">[]): boolean {
  return chosen.length === 0 || chosen.some((one) => one.needsCloud);
}
