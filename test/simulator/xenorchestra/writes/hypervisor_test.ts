import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { Rig } from "./rig.ts";

describe("Hypervisor.call()", () => {
  let rig: Rig;
  let changed: string[];
  beforeEach(() => {
    rig = new Rig();
    changed = [];
  });
  afterEach(() => rig.stop());

  const call = (isAsync = false): Promise<string> =>
    rig.cloud.hypervisor
      .call(
        { method: "VM.start", poolId: rig.site.poolIds.paris, name: "vino-1", isAsync },
        [() => void changed.push("first"), () => changed.push("second")],
        rig.cloud.life.signal,
      )
      .then(
        () => "done",
        (error: unknown) => (error instanceof Error ? error.message : ""),
      );
  const at = (moment: "before" | "during" | "after", onHit: () => void): void =>
    void rig.cloud.hypervisor.moments.set(moment, { times: 1, onHit });
  const outcomes = () => rig.cloud.hypervisor.journal.map(({ outcome }) => outcome);

  test("changes in parts of its time, and writes itself down", async () => {
    const told: string[] = [];
    rig.cloud.hypervisor.watch(({ outcome }) => told.push(outcome));
    rig.cloud.hypervisor.operationMs = 1_000;
    const called = call();
    await rig.clock.advance(500);
    expect([changed, outcomes()]).toEqual([["first"], ["sent"]]);
    await rig.clock.advance(500);
    expect([await called, changed, outcomes()]).toEqual(["done", ["first", "second"], ["done"]]);
    expect(told).toEqual(["sent", "done"]);
  });

  test("changes nothing when it fails, and takes longer when it is told to", async () => {
    const { faults } = rig.cloud.hypervisor;
    faults.set({ kind: "fail", code: "X", params: ["1"] }, { method: "VM.start", times: 1 });
    expect([await call(), changed, outcomes()]).toEqual(["X(1)", [], ["failed"]]);
    faults.set({ kind: "delay", ms: 500 }, { name: "vino-1" });
    const called = call();
    await rig.clock.advance(499);
    expect(outcomes()).toEqual(["failed", "sent"]);
    await rig.clock.advance(1);
    expect(await called).toBe("done");
  });

  test.each([
    ["before", []],
    ["during", ["first", "second"]],
    ["after", ["first", "second"]],
  ] as const)(
    "is carried out if it was sent, when xo-server dies %s it",
    async (moment, wanted) => {
      at(moment, () => rig.cloud.kill());
      expect(await call()).toBe("xo-server is killed");
      await rig.clock.advance(0);
      expect(changed).toEqual([...wanted]);
    },
  );

  test("is not made by a process that was killed, though another one lives", async () => {
    const life = rig.cloud.life.signal;
    rig.cloud.kill();
    rig.cloud.start();
    const operation = { method: "VM.start", poolId: rig.site.poolIds.paris, name: "vino-1" };
    const called = rig.cloud.hypervisor.call(operation, [() => "done"], life);
    await expect(called).rejects.toThrow("xo-server is killed");
    expect(outcomes()).toEqual([]);
  });

  test("is heard late when the connection was lost meanwhile and it is asynchronous", async () => {
    const lose = (): void => rig.cloud.state.dropPool(rig.site.poolIds.paris, 2_000, 60_000);
    at("during", lose);
    expect([await call(), changed.length]).toEqual(["other side closed", 2]);
    await rig.clock.advance(62_000);
    at("during", lose);
    const called = call(true);
    await rig.clock.advance(61_000);
    expect(changed).toHaveLength(4);
    await rig.clock.advance(1_000);
    expect(await called).toBe("done");
  });
});
