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

/** How a change ended. */
interface Done {
  /** ID of the object that was made; empty for other changes. */
  readonly id: string;
  /** 0 for success, otherwise the code of the refusal or of the failed job. */
  readonly code: number;
  /** What the refusal or the failed job says; empty for success. */
  readonly text: string;
  /** The result of the job. */
  readonly result: Readonly<Record<string, unknown>>;
}

/** What a test uses; each test gets a new simulator. */
export interface CloudStackRig {
  readonly clock: ManualClock;
  readonly simulator: CloudStackSimulator;
  readonly story: StoryWorld;
  /** Asks the simulator. */
  ask(command: string, fields?: Fields, options?: AskOptions): Promise<Answer>;
  /** Asks for a change, and lets its job end. */
  change(command: string, fields?: Fields, options?: AskOptions): Promise<Done>;
  /** ID of a public address. */
  ipId(address: string): string;
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
    change: (command, fields, options) => change(running(), clock, { command, fields, options }),
    ipId: (address) => {
      const ips = [...running().state.publicIps.values()];
      return ips.find((ip) => ip.address === address)?.id ?? "";
    },
    idOf: (name) => {
      const vm = [...running().state.vms.values()].find((one) => one.name === name);
      return story.machines.get(name)?.vmId ?? vm?.id ?? "";
    },
  };
}

interface Change {
  readonly command: string;
  readonly fields?: Fields | undefined;
  readonly options?: AskOptions | undefined;
}

async function change(
  simulator: CloudStackSimulator,
  clock: ManualClock,
  { command, fields, options }: Change,
): Promise<Done> {
  const { status, body } = await ask(simulator, command, fields, { method: "POST", ...options });
  if (status !== 200) return { id: "", code: status, text: String(body["errortext"]), result: {} };
  const job = simulator.jobs.all.get(String(body["jobid"]));
  await clock.advance(simulator.settings.jobMs);
  const result = { ...job?.result };
  const text = "errortext" in result ? String(result.errortext) : "";
  return { id: String(body["id"] ?? ""), code: job?.resultCode ?? 0, text, result };
}
