import { describe, expect, test } from "bun:test";
import { CloudError } from "../../../../../lib/cloud/errors.ts";
import { nameOf, startStepsRig, toTask } from "../../../../support/vino/steps_rig.ts";

describe("pickDue()", () => {
  test("looks at machines at rest every six hours, some at a time, and when nothing else is due", async () => {
    const { round, clock } = startStepsRig(2);
    const tasks = [0, 1, 2].map(toTask);
    const nothing = ["look "];
    for (let at = 0; at < 8; at += 1) await round(tasks);
    expect(await round(tasks)).toEqual(nothing);
    await clock.advance(21_590_000);
    expect(await round(tasks)).toEqual(nothing);
    await clock.advance(10_000);
    const more = [...tasks, toTask(3)];
    expect(await round(more)).toEqual(["look worker-3", `create VM ${nameOf(3)}`]);
    await round(more);
    await round(more);
    expect(await round(more)).toEqual(["look worker-3"]);
    expect(await round(more)).toEqual(["look worker-0,worker-1"]);
    expect(await round(more)).toEqual(["look worker-2"]);
    expect(await round(more)).toEqual(nothing);
  });

  test("gives the place of a machine that failed to others until it is due again", async () => {
    const { round, cloud, clock } = startStepsRig(1);
    cloud.onStep = ({ name }) => {
      if (name === nameOf(0)) throw new CloudError("protocol", "no room");
    };
    const tasks = [toTask(0), toTask(1)];
    await round(tasks);
    await round(tasks);
    expect([...cloud.world.keys()]).toEqual([nameOf(1)]);
    cloud.onStep = () => undefined;
    await clock.advance(5_000);
    for (let at = 0; at < 4; at += 1) await round(tasks);
    expect(cloud.world.size).toBe(2);
  });
});
