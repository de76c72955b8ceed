/**
 * One round: a look for several machines, and the first step of each.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { CloudError } from "../../../../../lib/cloud/errors.ts";
import type { StepInput } from "../../../../../lib/controllers/vino/machines/steps/run_steps.ts";
import { LeadershipLostError } from "../../../../../lib/core/fence.ts";
import type { DoubleMachineStep } from "../../../../support/vino/machines_double.ts";
import { nameOf, startStepsRig, toTask } from "../../../../support/vino/steps_rig.ts";

describe("runSteps()", () => {
  test("says which steps were made although one that follows them directly fails", async () => {
    const { round, cloud, options } = startStepsRig();
    cloud.plan = (_view, spec) => {
      const step = (kind: "configure" | "create", isDirect: boolean): DoubleMachineStep => {
        return { summary: kind, kind, name: nameOf(0), isDirect, spec };
      };
      const steps = [step("create", false), step("configure", true)];
      return { state: "Absent", steps, problems: [], parts: [], needsLook: true };
    };
    cloud.onStep = ({ kind }) => {
      if (kind === "configure") throw new CloudError("protocol", "no room");
    };
    const made: string[] = [];
    await round([toTask(0)], { noteStep: (_task, _plan, { summary }) => void made.push(summary) });
    expect(made).toEqual(["create"]);
    expect(options.tracker.find(nameOf(0))?.failure?.message).toBe("Cannot configure: no room");
  });

  test("throws an error of the whole cloud after the other steps ended", async () => {
    const { round, cloud, options } = startStepsRig();
    cloud.onStep = ({ name }) => {
      if (name === nameOf(0)) throw new CloudError("unreachable", "gone");
    };
    await expect(round([toTask(0), toTask(1)])).rejects.toThrow("gone");
    expect(cloud.world.has(nameOf(1))).toBe(true);
    expect(options.tracker.find(nameOf(0))?.failure).toBeUndefined();
  });

  test("throws a lost leadership first", async () => {
    const { round, cloud } = startStepsRig();
    cloud.onStep = ({ name }) => {
      if (name === nameOf(0)) throw new CloudError("unreachable", "gone");
      throw new LeadershipLostError("another leads");
    };
    await expect(round([toTask(0), toTask(1)])).rejects.toThrow("another leads");
  });

  test("makes no step that an obstacle forbids, and says that a person must decide", async () => {
    const { round, cloud, options } = startStepsRig();
    await round([toTask(0)], { findObstacle: () => "its host is in use" });
    expect(cloud.world.size).toBe(0);
    expect(options.tracker.find(nameOf(0))?.failure).toEqual({
      kind: "decision",
      message: "its host is in use",
    });
  });

  test("gives a seed only to a machine that is not complete", async () => {
    const { round, cloud } = startStepsRig();
    const asked: string[] = [];
    const readSeed: StepInput["readSeed"] = async ({ name }) => {
      asked.push(name);
      return { label: "cidata", files: { "user-data": "x" } };
    };
    for (let at = 0; at < 4; at += 1) await round([toTask(0)], { readSeed });
    expect(cloud.world.get(nameOf(0))).toMatchObject({ stage: "ready", seed: { label: "cidata" } });
    expect(asked).toHaveLength(3);
  });

  test("leaves a machine whose seed cannot be read, and goes on with others", async () => {
    const { round, cloud, options } = startStepsRig();
    const readSeed: StepInput["readSeed"] = async ({ name }) => {
      if (name === nameOf(0)) throw new Error("there is no Secret");
      return undefined;
    };
    await round([toTask(0), toTask(1)], { readSeed });
    expect([...cloud.world.keys()]).toEqual([nameOf(1)]);
    expect(options.tracker.find(nameOf(0))?.failure?.message).toBe("there is no Secret");
  });
});
