/**
 * A simulated CloudStack on a manual clock for one file of tests, with the world of the demo.
 * @module
 */
import { afterEach, beforeEach } from "bun:test";
import {
  createDemoWorld,
  startCloudStackSimulator,
  type CloudStackSimulator,
  type StoryWorld,
} from "../../../lib/simulator/cloudstack/mod.ts";
import { ManualClock } from "../manual_clock.ts";
import { ask, type Answer, type AskOptions, type Fields } from "./cloudstack_asks.ts";

/** What a test uses; each test gets a new simulator. */
export interface CloudStackRig {
  readonly clock: ManualClock;
  readonly simulator: CloudStackSimulator;
  readonly story: StoryWorld;
  /** Asks the simulator. */
  ask(command: string, fields?: Fields, options?: AskOptions): Promise<Answer>;
  /** ID of a machine by the name of its Node, or of another virtual machine by its name. */
  idOf(name: string): string;
}

/** Starts a simulator before each test of the file, and stops it afterwards. */
export function useCloudStack(): CloudStackRig {
  const story = createDemoWorld();
  let clock = new ManualClock();
  let simulator: CloudStackSimulator | undefined;
  const running = (): CloudStackSimulator => {
    if (simulator === undefined) throw new Error("Cannot use the simulator outside of a test");
    return simulator;
  };
  beforeEach(async () => {
    clock = new ManualClock();
    simulator = await startCloudStackSimulator({ clock, world: story.world });
  });
  afterEach(() => running().stop());
  return {
    get clock() {
      return clock;
    },
    get simulator() {
      return running();
    },
    story,
    ask: (command, fields, options) => ask(running(), command, fields, options),
    idOf: (name) => {
      const vm = [...running().state.vms.values()].find((one) => one.name === name);
      return story.machines.get(name)?.vmId ?? vm?.id ?? "";
    },
  };
}
