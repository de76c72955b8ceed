import { describe, expect, test } from "bun:test";
import { LastRuns } from "../../../../lib/providers/xenorchestra/proof/last_runs.ts";
import type { Instance } from "../../../../lib/cloud/provider.ts";
import { toInstance } from "../../../support/cloud/instances.ts";

function toVm(hostId: string, state: Instance["state"] = "running"): Instance {
  return toInstance("vm", { state, region: "pool", details: { hostId } });
}

function toList(...vms: readonly Instance[]): ReadonlyMap<string, Instance> {
  return new Map(vms.map((vm) => [vm.id, vm]));
}

function follow(sizeMax: number): LastRuns {
  const runs = new LastRuns(sizeMax);
  runs.follow();
  return runs;
}

function note(
  runs: LastRuns,
  instances: ReadonlyMap<string, Instance>,
  lookedFor: readonly string[] = ["vm"],
): void {
  runs.noteList({ instances, lookedFor: new Set(lookedFor) });
}

describe("LastRuns", () => {
  test("remembers where a VM ran when it was listed running last, however long it is off or gone", () => {
    const runs = follow(10);
    note(runs, toList(toVm("a")));
    for (const list of [toList(toVm("", "stopped")), toList(), toList(toVm("", "stopped"))]) {
      note(runs, list);
      expect(runs.find("vm")).toEqual({ poolId: "pool", hostId: "a" });
    }
  });

  test("knows nothing of a VM that it never saw run", () => {
    const runs = follow(10);
    note(runs, toList(toVm("a", "stopped")));
    expect(runs.find("vm")).toBeUndefined();
  });

  test("believes the newest of lists and reads, also when a list shows what the one before did", () => {
    const runs = follow(10);
    const list = toList(toVm("a"));
    note(runs, list);
    runs.noteRead(toVm("b"));
    expect(runs.find("vm")?.hostId).toBe("b");
    note(runs, list);
    expect(runs.find("vm")?.hostId).toBe("a");
    runs.noteRead(toVm("c"));
    note(runs, toList(toVm("", "stopped")));
    expect(runs.find("vm")?.hostId).toBe("c");
  });

  test("doubts a VM for ten minutes after it was shown being migrated", () => {
    const runs = follow(10);
    runs.noteMigrating(["vm"], 5_000);
    expect(runs.wasMigrated("vm", 604_999)).toBe(true);
    expect(runs.wasMigrated("vm", 605_000)).toBe(false);
    expect(runs.wasMigrated("other", 5_000)).toBe(false);
  });

  test("forgets a VM once two lists in a row found no Node that may be its own", () => {
    const runs = follow(10);
    const halted = toList(toVm("", "stopped"));
    note(runs, toList(toVm("a")));
    note(runs, halted, []);
    expect(runs.find("vm")?.hostId).toBe("a");
    note(runs, halted, []);
    note(runs, halted);
    expect(runs.find("vm")).toBeUndefined();
  });

  test("forgets a migration once its doubt is over", () => {
    const runs = follow(10);
    runs.noteMigrating(["vm"], 1_000);
    runs.noteMigrating(["other"], 500_000);
    runs.noteMigrating([], 601_000);
    expect(runs.wasMigrated("vm", 600_999)).toBe(false);
    expect(runs.wasMigrated("other", 601_000)).toBe(true);
  });

  test("forgets the longest unseen VM when there are too many", () => {
    const runs = follow(1);
    runs.noteRead(toVm("a"));
    runs.noteRead({ ...toVm("b"), id: "other" });
    expect(runs.find("vm")).toBeUndefined();
    expect(runs.find("other")?.hostId).toBe("b");
  });

  test("remembers nothing before it is followed", () => {
    const runs = new LastRuns(10);
    note(runs, toList(toVm("a")));
    runs.noteRead({ ...toVm("b"), id: "other" });
    runs.noteMigrating(["vm"], 1_000);
    expect([runs.find("vm"), runs.find("other")]).toEqual([undefined, undefined]);
    expect(runs.wasMigrated("vm", 1_000)).toBe(false);
    runs.follow();
    note(runs, toList(toVm("a")));
    expect(runs.find("vm")?.hostId).toBe("a");
  });
});
