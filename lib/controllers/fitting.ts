/**
 * Which of the chosen controllers can run with the chosen cloud.
 * @module
 */
import { CAPABILITIES, type Capability, listLacking } from "../cloud/capabilities/mod.ts";
import type { Provider } from "../cloud/provider.ts";
import type { ControllerDefinition } from "./definition.ts";

/** The chosen controllers, in their order. */
export interface FittedControllers {
  /** Those that can run. */
  readonly fitting: readonly ControllerDefinition[];
  /** Why others cannot, one line each: they were not chosen by name, and are left out. */
  readonly leftOut: readonly string[];
  /** The same for those that were chosen by name: the process must not start without them. */
  readonly refusals: readonly string[];
}

/** Sorts out controllers that need what the cloud cannot do. @param named Names of those that were chosen by name */
export function fitControllers(
  chosen: readonly ControllerDefinition[],
  {
    provider,
    named,
  }: {
    readonly provider: Pick<Provider, Capability | "name">;
    readonly named: ReadonlySet<string>;
  },
): FittedControllers {
  const fitting: ControllerDefinition[] = [];
  const leftOut: string[] = [];
  const refusals: string[] = [];
  for (const one of chosen) {
    const lacking = listLacking(provider, one.needs ?? []);
    if (lacking.length === 0) {
      fitting.push(one);
      continue;
    }
    const what = lacking.map((capability) => CAPABILITIES[capability]).join(" and ");
    const why = `controller ${one.name} needs a cloud that can ${what}; the cloud ${provider.name} cannot`;
    (named.has(one.name) ? refusals : leftOut).push(why);
  }
  return { fitting, leftOut, refusals };
}
