/**
 * The whole protocol of making, keeping and removing machines, against the simulated Xen Orchestra.
 * @module
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { Rig, summarise } from "./rig.ts";

let rig: Rig;

beforeEach(async () => {
  rig = await Rig.start();
});
afterEach(() => rig.stop());

describe("a machine that must exist", () => {
  test("is created, completed, started once on its host, and then left alone", async () => {
    const spec = rig.spec();
    const plan = await rig.make(spec);
    expect(rig.errors).toEqual([]);
    expect(rig.done).toEqual([
      "create VM vino-1b4e28ba-worker-0",
      "mark VM vino-1b4e28ba-worker-0",
      "upload and attach disk vino-1b4e28ba-worker-0-cidata",
      "note that VM vino-1b4e28ba-worker-0 is complete",
      "start VM vino-1b4e28ba-worker-0 on host xcp-par-2",
      "note that vino-1b4e28ba-worker-0 was started",
    ]);
    expect(plan).toMatchObject({ state: "Ready", problems: [] });
    expect(summarise(plan.machine)).toBe("vino-1b4e28ba-worker-0 complete running");
    const vm = rig.vm(spec);
    expect(vm).toMatchObject({
      $container: rig.site.hostIds["xcp-par-2"],
      CPUs: { number: 4 },
      blockedOperations: { destroy: "managed by Landfall (ViNO)" },
    });
    expect(vm["tags"]).toContain("vino");
  });

  test("needs no request at rest", async () => {
    const spec = rig.spec();
    await rig.make(spec);
    await rig.refresh();
    const view = await rig.machines.observe({ isForChange: false }, rig.signal);
    const before = rig.simulator.requests.total;
    const plan = rig.machines.plan(view, spec, rig.record(spec));
    expect(plan).toMatchObject({ state: "Ready", steps: [], problems: [] });
    expect(plan.needsLook).toBeUndefined();
    expect(rig.simulator.requests.total).toBe(before);
    expect(plan.machine?.instance).toMatchObject({ name: "vino-1b4e28ba-worker-0" });
  });
});

describe("a machine that must go", () => {
  test("is shut down and deleted with its disks, and nothing else is", async () => {
    const spec = rig.spec();
    const count = (): number[] =>
      (["vms", "vdis", "vbds", "vifs"] as const).map((one) => rig.list(one).length);
    const before = count();
    await rig.make(spec);
    rig.done.length = 0;
    const plan = await rig.remove(spec);
    expect(rig.errors).toEqual([]);
    expect(plan).toMatchObject({ state: "Absent", problems: [], steps: [] });
    expect(rig.done.map((one) => one.replace(/ \([-\w]+\)/, ""))).toEqual([
      "shut down VM vino-1b4e28ba-worker-0",
      "delete VM vino-1b4e28ba-worker-0 with its disks",
    ]);
    expect(count()).toEqual(before);
  });
});
