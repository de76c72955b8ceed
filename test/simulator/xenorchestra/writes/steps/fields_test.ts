import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  changeFields,
  toFieldChange,
} from "../../../../../lib/simulator/xenorchestra/writes/steps/fields.ts";
import { Rig } from "../rig.ts";

describe("changeFields()", () => {
  let rig: Rig;
  beforeEach(() => (rig = new Rig()));
  afterEach(() => rig.stop());

  const change = async (field: string, value: unknown) => {
    const vm =
      rig.list("vms").find((one) => one["name_label"] === "vino-1") ?? (await rig.make("vino-1"));
    await changeFields(rig.work(), vm, [toFieldChange(field, value)]);
    return vm;
  };

  const cases: [string, unknown, object][] = [
    ["nameLabel", "vino-2", { name_label: "vino-2" }],
    ["cpus", 4, { CPUs: { max: 4, number: 4 } }],
    ["cpus", 1, { CPUs: { max: 2, number: 1 } }],
    ["memory", 5e9, { memory: { dynamic: [5e9, 5e9], static: [1024 ** 3, 5e9], size: 5e9 } }],
    ["tags", ["a"], { tags: ["a"] }],
    [
      "blockedOperations",
      { destroy: true, start: null },
      { blockedOperations: { destroy: "true" } },
    ],
    ["xenStoreData", { a: "b" }, { xenStoreData: { "vm-data": "", "vm-data/a": "b" } }],
  ];
  test.each(cases)("%s %j", async (field, value, wanted) => {
    expect(await change(field, value)).toMatchObject(wanted);
  });

  test("blockedOperations null unblocks", async () => {
    await change("blockedOperations", { destroy: "mine" });
    expect((await change("blockedOperations", { destroy: null }))["blockedOperations"]).toEqual({});
  });

  test("refuses more CPUs and memory while the machine runs, and writes the other fields", async () => {
    const vm = await rig.make("vino-1");
    rig.cloud.state.setPower(vm.id, "Running");
    await expect(
      changeFields(rig.work(), vm, [toFieldChange("cpus", 8), toFieldChange("notes", "n")]),
    ).rejects.toThrow("VM_BAD_POWER_STATE");
    await expect(change("memory", 9e9)).rejects.toThrow("VM_BAD_POWER_STATE");
    expect(vm).toMatchObject({ CPUs: { number: 2 }, notes: "n" });
  });

  test("refuses a host that does not exist", async () => {
    await expect(change("affinityHost", "nope")).rejects.toThrow("no such host nope");
    const hostId = rig.site.hostIds["xcp-par-1"];
    expect(await change("affinityHost", hostId)).toMatchObject({ affinityHost: hostId });
    expect(await change("affinityHost", null)).not.toHaveProperty("affinityHost");
  });
});
