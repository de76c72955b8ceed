/**
 * Finds out which of the chosen controllers can run with the chosen cloud.
 * @module
 */
import { CAPABILITIES, type Capability, listLacking } from "../cloud/capabilities/mod.ts";
import type { Provider } from "../cloud/provider.ts";
import { findSettings, type SectionValues } from "../cloud/settings/schema.ts";
import type { ControllerDefinition } from "./definition.ts";

/** The chosen controllers, in their order. */
interface FittedControllers {
  /** Those that can run. */
  readonly fitting: readonly ControllerDefinition[];
  /**
   * Each controller that cannot run, and that `--controllers` does not name, or that may be left out. The process
   * starts without them.
   */
  readonly leftOut: readonly LeftOut[];
  /** One line for each controller that runs only to say on its objects what the cloud lacks. */
  readonly useless: readonly string[];
  /** One line for each controller that cannot run, although `--controllers` names it. The process must not start. */
  readonly refusals: readonly string[];
}

/** A controller that does not run. */
interface LeftOut {
  /** What the cloud lacks; no full stop. */
  readonly why: string;
  /** How it can run, if settings are enough. */
  readonly advice?: string;
}

/** The cloud and the settings that controllers must fit. */
interface Fitting {
  readonly provider: Pick<Provider, Capability | "name">;
  /** Names of controllers chosen by name. */
  readonly named: ReadonlySet<string>;
  /** The settings of sections. @default {those without a file} */
  readonly sections?: SectionValues | undefined;
}

/** Removes controllers that need a capability that neither the cloud nor their settings have. */
export function fitControllers(
  chosen: readonly ControllerDefinition[],
  { provider, named, sections }: Fitting,
): FittedControllers {
  const fitting: ControllerDefinition[] = [];
  const leftOut: LeftOut[] = [];
  const useless: string[] = [];
  const refusals: string[] = [];
  for (const one of chosen) {
    const standIns = one.standIn?.list(findSettings(one.section, sections)) ?? [];
    const needs = one.needs?.filter((capability) => !standIns.includes(capability)) ?? [];
    const lacking = listLacking(provider, needs);
    const what = lacking.map((capability) => CAPABILITIES[capability]).join(" and ");
    const lack = `the cloud ${provider.name} cannot ${what}`;
    if (lacking.length === 0 || one.reportsLack === true) {
      fitting.push(one);
      if (lacking.length > 0)
        useless.push(`controller ${one.name} only says on each ${one.kind.kind} that ${lack}`);
      continue;
    }
    if (named.has(one.name) && one.mayBeLeftOut !== true) {
      refusals.push(`controller ${one.name} cannot run: ${lack}`);
    } else {
      const why = `controller ${one.name} does not run: ${lack}`;
      leftOut.push({ why, ...(one.standIn && { advice: one.standIn.advice }) });
    }
  }
  return { fitting, leftOut, useless, refusals };
}
