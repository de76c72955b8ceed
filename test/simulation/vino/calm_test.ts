import { describe, expect, test } from "bun:test";
import { calm, restart } from "./calm.ts";
import { RightWorld, VINO } from "./judges/right_world.ts";

const MINUTE_MS = 60_000;

describe("calm()", () => {
  test("ends when all is right and at rest", async () => {
    using right = await RightWorld.create();
    await calm(right.world);
    expect(right.world.timeline.monotonic()).toBeLessThan(3 * MINUTE_MS);
  });

  test("says what does not come right in time", async () => {
    using right = await RightWorld.create();
    right.world.cloud.state.removeVm(right.vm(0).id);
    await expect(calm(right.world)).rejects.toThrow(
      "not right in time: core has 1 VMs and wants 2",
    );
  });

  test("says that changes go on although all is right", async () => {
    using right = await RightWorld.create();
    const { timeline, hostJudge } = right.world;
    const work = (): void => {
      hostJudge.writes += 1;
      timeline.schedule(MINUTE_MS, work);
    };
    work();
    await expect(calm(right.world)).rejects.toThrow("not right in time: writes go on");
  });

  test("ends at once when a promise is broken", async () => {
    using right = await RightWorld.create();
    right.world.cloud.state.setVm(right.world.site.foreign.vmId, { name_label: "mine" });
    await calm(right.world);
    expect(right.world.timeline.monotonic()).toBeLessThan(MINUTE_MS);
    expect(right.world.violations).toHaveLength(1);
  });
});

describe("restart()", () => {
  test("has nothing to say when nothing changes", async () => {
    using right = await RightWorld.create();
    expect(await restart(right.world)).toBeUndefined();
  });

  test("says that a process which remembers nothing changed something", async () => {
    using right = await RightWorld.create();
    const { timeline, cloudJudge } = right.world;
    timeline.schedule(MINUTE_MS, () => {
      cloudJudge.changes += 1;
    });
    await expect(restart(right.world)).rejects.toThrow("a new process changed 1 things");
  });

  test("says what is wrong after it", async () => {
    using right = await RightWorld.create();
    const { timeline, objects } = right.world;
    timeline.schedule(MINUTE_MS, () => objects.delete("vinoes", VINO));
    await expect(restart(right.world)).rejects.toThrow("wrong after a restart: ");
  });
});
