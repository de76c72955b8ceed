/**
 * The controllers and clouds that the pages describe.
 * @module
 */
import type { ProviderDefinition } from "../../lib/cloud/provider_definition.ts";
import {
  type ControllerDefinition,
  type ControllerModule,
  type KindDefinition,
  loadControllers,
} from "../../lib/controllers/definition.ts";
import { CONTROLLERS } from "../../lib/controllers/mod.ts";
import { SERVICES } from "../../lib/kube/kinds/service.ts";
import { loadProviders } from "../../lib/providers/mod.ts";

/** Controllers and clouds, in the order of the pages. */
export interface Registries {
  readonly controllers: readonly ControllerDefinition[];
  /** Their code, which registers what it counts. */
  readonly modules: readonly ControllerModule[];
  /** Kinds that Kubernetes does not have, of these controllers. */
  readonly kinds: readonly KindDefinition[];
  /** The first is the default. */
  readonly providers: readonly ProviderDefinition[];
}

/** Whether a controller works on Services, whose words have a page of their own. */
export function isOfServices({ kind }: ControllerDefinition): boolean {
  return kind === SERVICES;
}

/** All that Landfall has. */
export const ALL: Registries = {
  controllers: CONTROLLERS,
  modules: (await loadControllers(CONTROLLERS)).map(({ module }) => module),
  kinds: (await Promise.all(CONTROLLERS.map((one) => one.loadKinds?.() ?? []))).flat(),
  providers: await loadProviders(),
};
