import { describe, expect, test } from "bun:test";
import {
  Cache,
  copy,
  MEASURED_LAG,
  watched,
} from "../../../../lib/simulator/xenorchestra/world/cache.ts";
import { createMachineSite } from "../../../../lib/simulator/xenorchestra/mod.ts";
import { XenOrchestraState } from "../../../../lib/simulator/xenorchestra/state.ts";
import { ManualClock } from "../../../support/manual_clock.ts";

const site = createMachineSite();
const { vmId } = site.foreign;

describe("Cache", () => {
  /** Milliseconds after which each of some changes is shown. */
  async function measure(seed: number): Promise<number[]> {
    const clock = new ManualClock();
    const state = new XenOrchestraState(clock, site.world, { ...MEASURED_LAG, seed });
    const lags: number[] = [];
    for (let count = 0; count < 10; count += 1) {
      state.call(() => state.setVm(vmId, { name_label: String(count) }));
      const sinceMs = clock.monotonic();
      while (state.readShown("vms", vmId)?.["name_label"] !== String(count)) await clock.advance(1);
      lags.push(clock.monotonic() - sinceMs);
      await clock.advance(50);
    }
    return lags;
  }

  test("shows what a call changed 100 to 250 ms later, in the same way for the same seed", async () => {
    const lags = await measure(1);
    expect(Math.min(...lags)).toBeGreaterThanOrEqual(100);
    expect(Math.max(...lags)).toBeLessThanOrEqual(251);
    expect(new Set(lags).size).toBeGreaterThan(5);
    expect(await measure(1)).toEqual(lags);
    expect(await measure(2)).not.toEqual(lags);
  });

  test("shows each state in its order, and one change of several fields at once", async () => {
    const clock = new ManualClock();
    const lag = { minMs: 200, maxMs: 200, seed: 1 };
    const state = new XenOrchestraState(clock, site.world, lag);
    const shown = (): unknown[] => {
      const { name_label: name, power_state: power } = { ...state.readShown("vms", vmId) };
      return [name, power];
    };
    state.call(() => state.setVm(vmId, { name_label: "a", power_state: "Halted" }));
    await clock.advance(100);
    state.call(() => state.setVm(vmId, { name_label: "b" }));
    expect(shown()).toEqual(["database", "Running"]);
    await clock.advance(100);
    expect(shown()).toEqual(["a", "Halted"]);
    await clock.advance(100);
    expect(shown()).toEqual(["b", "Halted"]);
  });

  test("turns a template into a machine at one time, and shows what is gone until then", async () => {
    const clock = new ManualClock();
    const state = new XenOrchestraState(clock, site.world);
    const id = site.templateIds.blank;
    state.call(() => state.provision(id));
    state.call(() => state.removeVm(vmId));
    const isShown = (collection: "vm-templates" | "vms", one: string): boolean =>
      state.readShown(collection, one) !== undefined &&
      state.listShown(collection).some((record) => record.id === one);
    for (let ms = 0; ms <= 250; ms += 10) {
      expect(isShown("vm-templates", id)).toBe(!isShown("vms", id));
      await clock.advance(10);
    }
    expect([isShown("vms", id), isShown("vms", vmId)]).toEqual([true, false]);
  });

  test("shows at once what no call changed, and everything after a restart", () => {
    const state = new XenOrchestraState(new ManualClock(), site.world);
    state.setVm(vmId, { name_label: "edited" });
    expect(state.readShown("vms", vmId)).toMatchObject({ name_label: "edited" });
    state.call(() => state.setVm(vmId, { name_label: "called" }));
    expect(state.readShown("vms", vmId)).toMatchObject({ name_label: "edited" });
    state.restart({ loadedAfterMs: 0 });
    expect(state.readShown("vms", vmId)).toMatchObject({ name_label: "called" });
  });

  test("is not late about what xo-server keeps itself", () => {
    const cache = new Cache(new ManualClock(), MEASURED_LAG);
    const task = { id: "t", status: "pending" };
    cache.call(() => cache.beforeChange("tasks", "t", undefined));
    expect(cache.show("tasks", "t", task)).toBe(task);
  });
});

test("watched() tells of each change, and copy() makes a copy that tells of none", () => {
  const told: string[] = [];
  const record = watched({ id: "r", tags: ["a"], more: 1 }, () => void told.push("change"));
  record["tags"] = ["b"];
  record["more"] = 1;
  delete record["more"];
  delete record["more"];
  expect(told).toHaveLength(2);
  const own = copy(record);
  own["tags"] = [];
  expect(told).toHaveLength(2);
  expect(record).toEqual({ id: "r", tags: ["b"] });
});
