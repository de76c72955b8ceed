import { describe, expect, test } from "bun:test";
import type {
  MachineManagement,
  ManagementAnswer,
} from "../../../lib/cloud/capabilities/machine_management.ts";
import { Timeline } from "../timeline.ts";
import { Trace } from "../trace.ts";
import { Process } from "../world/process.ts";
import { Ironic } from "./ironic.ts";
import { RightWorld } from "./judges/right_world.ts";

const RIGHT = { rate: 1, skewMs: 0 } as const;
const DONE = { kind: "done", value: undefined } as const;

/** A client of one process, which is asked for resets of one VM only. */
class Rig {
  readonly timeline: Timeline = new Timeline();
  readonly trace: Trace = new Trace(this.timeline);
  readonly process: Process = new Process("a1", this.timeline, RIGHT);
  readonly ironic: Ironic;
  /** What the process does. */
  answer: (signal: AbortSignal) => Promise<ManagementAnswer<void>> = () => Promise.resolve(DONE);
  isLeading = true;
  asked = 0;

  constructor({ world }: RightWorld) {
    const { timeline, trace, process } = this;
    const unused = (): never => {
      throw new Error("nobody asks for this");
    };
    const management: MachineManagement = {
      isLeading: () => this.isLeading,
      findSystems: unused,
      read: unused,
      readInterfaces: unused,
      setBoot: unused,
      reset: (_id, _action, signal) => {
        this.asked += 1;
        return this.answer(signal);
      },
    };
    const replicas = [{ current: { process, management } }];
    const { objects, overrideJudge } = world;
    this.ironic = new Ironic({ timeline, trace, objects, overrideJudge, replicas });
  }

  async ask(ms: number): Promise<string> {
    this.ironic.resetAny("vm", "on");
    await this.timeline.advance(ms);
    return this.trace.lines.at(-1) ?? "";
  }
}

describe("Ironic", () => {
  test("asks the process that leads, and knows for how long that may have effects", async () => {
    using right = await RightWorld.create();
    const rig = new Rig(right);
    expect(rig.ironic.askedSince("vm")).toBeUndefined();
    expect(await rig.ask(10)).toEndWith("on of vm is done");
    expect(rig.ironic.askedSince("vm")).toBe(0);
    expect(rig.ironic.askedSince("another")).toBeUndefined();
    await rig.timeline.advance(11_000);
    expect(rig.ironic.askedSince("vm")).toBeUndefined();
  });

  test("asks no process that does not lead, or does not any more when it is reached", async () => {
    using right = await RightWorld.create();
    const rig = new Rig(right);
    rig.isLeading = false;
    expect(await rig.ask(10)).toEndWith("503");
    rig.isLeading = true;
    rig.timeline.schedule(1, () => {
      rig.isLeading = false;
    });
    expect(await rig.ask(10)).toEndWith("503");
    expect(rig.asked).toBe(0);
    await rig.timeline.advance(60_000);
    expect(rig.ironic.askedSince("vm")).toBe(0);
  });

  test("hangs up when a process is frozen, or does not answer", async () => {
    using right = await RightWorld.create();
    const rig = new Rig(right);
    let hung: unknown;
    rig.answer = (signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject((hung = signal.reason)));
      });
    expect(await rig.ask(61_000)).toEndWith("no answer");
    expect(String(hung)).toContain("the client hangs up");
    rig.process.pause();
    expect(await rig.ask(61_000)).toEndWith("no answer");
    expect(rig.asked).toBe(1);
  });
});
