/**
 * A process that ends at any point of a boot override: before or after each call to the API server and to the cloud.
 * @module
 */
import { expect, test } from "bun:test";
import { LeadershipLostError } from "../../../../lib/core/fence.ts";
import { MachinePowerDouble, makeMachine } from "../../../support/cloud/machine_power_double.ts";
import { ManagementRig } from "../../../support/vino/management_rig.ts";

const ORDER = ["disk", "cd"] as const;
const LONG_MS = 10 * 60_000;

interface Scenario {
  readonly title: string;
  readonly isRunning?: boolean;
  readonly knowsStarts?: boolean;
  /** What a client does after it set the device once. */
  readonly later?: readonly ("on" | "off" | "restart")[];
}

const SCENARIOS: readonly Scenario[] = [
  { title: "a machine that is off, and is switched on", later: ["on"] },
  { title: "a machine that is off, and is left alone" },
  { title: "a machine that runs, and is restarted", isRunning: true, later: ["restart"] },
  {
    title: "a machine that runs, and is switched off and on",
    isRunning: true,
    later: ["off", "on"],
  },
  { title: "a machine whose starts the cloud does not tell", knowsStarts: false, later: ["on"] },
];

interface Run {
  readonly rig: ManagementRig;
  /** How many starts there had been when the client was told that the device is set; absent: it was not. */
  readonly startsBefore?: number;
  readonly points: number;
}

/** Runs a scenario until the point where the process ends. */
async function runUntil(scenario: Scenario, cut: number): Promise<Run> {
  const power = new MachinePowerDouble([makeMachine("a", { bootOrder: ORDER })]);
  power.knowsStarts = scenario.knowsStarts ?? true;
  if (scenario.isRunning === true) power.start("a");
  const rig = new ManagementRig(power);
  const process = rig.createProcess();
  let points = 0;
  const onCall = (): void => {
    points += 1;
    if (points !== cut) return;
    process.kill();
    throw new LeadershipLostError("the process ends");
  };
  power.onCall = onCall;
  rig.secrets.onCall = onCall;
  process.lead();
  const work = async (): Promise<number | undefined> => {
    const { management } = process;
    const { signal } = new AbortController();
    const change = { device: "network", duration: "once" } as const;
    const answer = await management.setBoot("a", change, signal);
    const startsBefore = answer.kind === "done" ? power.starts.length : undefined;
    for (const action of scenario.later ?? []) await management.reset("a", action, signal);
    return startsBefore;
  };
  const working = work();
  await rig.clock.advance(LONG_MS);
  const startsBefore = await working;
  process.kill();
  power.onCall = () => {};
  rig.secrets.onCall = () => {};
  return { rig, points, ...(startsBefore !== undefined && { startsBefore }) };
}

/** Another process leads, and the machine is started. */
async function finish({ rig, startsBefore }: Run): Promise<void> {
  const next = rig.createProcess();
  next.lead();
  await rig.clock.advance(LONG_MS);
  const isStarted = startsBefore !== undefined && rig.power.starts.length > startsBefore;
  if (!isStarted || rig.power.get("a").power !== "running") {
    if (rig.power.get("a").power === "running") rig.power.stop("a");
    await rig.clock.advance(LONG_MS);
    rig.power.start("a");
  }
  await rig.clock.advance(LONG_MS);
  next.kill();
}

for (const scenario of SCENARIOS) {
  test(`VinoManagement finishes a device that was set once, at any end of the process: ${scenario.title}`, async () => {
    const { points } = await runUntil(scenario, Infinity);
    expect(points).toBeGreaterThan(12);
    let answered = 0;
    for (let cut = 1; cut <= points; cut += 1) {
      const run = await runUntil(scenario, cut);
      await finish(run);
      const { rig, startsBefore } = run;
      const { bootOrder } = rig.power.get("a");
      const override = rig.secrets.override("a");
      expect({ cut, bootOrder, override }).toEqual({ cut, bootOrder: ORDER, override: undefined });
      if (startsBefore === undefined) continue;
      answered += 1;
      expect([cut, rig.power.starts[startsBefore]]).toEqual([cut, "a network"]);
      rig.power.start("a");
      expect([cut, rig.power.starts.at(-1)]).toEqual([cut, "a disk"]);
    }
    expect(answered).toBeGreaterThan(0);
  });
}
