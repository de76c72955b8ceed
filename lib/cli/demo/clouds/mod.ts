/**
 * The clouds on which the demo tells its story. Only the chosen one is loaded.
 * @module
 */
import { assert } from "../../../core/errors.ts";
import type { Clock } from "../../../core/clock.ts";
import type { Setting } from "../story/stage.ts";

type Start = (clock: Clock) => Promise<Setting>;

const CLOUDS: Readonly<Record<string, () => Promise<Start>>> = {
  xenorchestra: async () => (await import("./xenorchestra/mod.ts")).startXenOrchestra,
  cloudstack: async () => (await import("./cloudstack/mod.ts")).startCloudStack,
};

/** Starts the simulated cloud with this name, which is one of the choices of `--cloud`. */
export async function startCloud(name: string, clock: Clock): Promise<Setting> {
  const load = CLOUDS[name];
  assert(load !== undefined, `no simulated cloud is called ${name}`);
  const start = await load();
  return await start(clock);
}
