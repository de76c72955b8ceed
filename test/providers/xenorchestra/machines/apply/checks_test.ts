import { describe, expect, test } from "bun:test";
import {
  checkFinished,
  checkGone,
  checkHalfMade,
  checkOrphan,
} from "../../../../../lib/providers/xenorchestra/machines/apply/checks.ts";
import type { MachinesApi } from "../../../../../lib/providers/xenorchestra/machines/wire/machines_api.ts";
import {
  formatMark,
  listOwnTags,
} from "../../../../../lib/providers/xenorchestra/machines/words.ts";
import { IDENTITY, NAME } from "../scene.ts";

const signal = new AbortController().signal;
const VM = {
  id: "v",
  $pool: "p",
  name_label: NAME,
  name_description: formatMark(IDENTITY, {}, false),
  power_state: "Halted",
  $VBDs: ["l"],
  creation: { user: "u" },
};
const OF_ANOTHER = { name_description: "", tags: ["vino:uid=another"] };
const thing = { id: "v", kind: "vm", poolId: "p" } as const;
const asked = { name: NAME, signal };

function createApi(over: object = {}): MachinesApi {
  const answers = { vm: VM, tasks: [], pool: { id: "p" }, disk: undefined, ...over } as Record<
    string,
    unknown
  >;
  const read = (key: string) => async () =>
    answers[key] === undefined ? { kind: "missing" } : { kind: "found", value: answers[key] };
  return {
    readVm: read("vm"),
    readTemplate: read("template"),
    readPool: read("pool"),
    readDisk: read("disk"),
    listTasks: async () => answers["tasks"],
  } as unknown as MachinesApi;
}

describe("checkHalfMade()", () => {
  const change = { kind: "deleteHalfMade", thing, inherited: [], userId: "u" } as const;

  test("finds a VM and a template that are still half-made, and nothing that is gone", async () => {
    expect(await checkHalfMade(createApi(), change, asked)).toMatchObject({ id: "v" });
    expect(await checkHalfMade(createApi({ vm: undefined }), change, asked)).toBeUndefined();
    const template = { ...change, thing: { ...thing, kind: "template" } } as const;
    const api = createApi({ template: VM });
    expect(await checkHalfMade(api, template, asked)).toMatchObject({ id: "v" });
  });

  const pending = [{ id: "t", status: "pending", properties: { args: { name_label: NAME } } }];
  test.each<[string, object]>([
    ["a task makes it", { tasks: pending }],
    ["tasks cannot be seen", { tasks: undefined }],
    ["it has another name", { vm: { ...VM, name_label: "web" } }],
    ["it runs", { vm: { ...VM, power_state: "Running" } }],
    ["it was started", { vm: { ...VM, startTime: 5 } }],
    ["it is busy", { vm: { ...VM, current_operations: { a: "clone" } } }],
    ["it has a snapshot", { vm: { ...VM, snapshots: ["s"] } }],
    ["it is complete", { vm: { ...VM, tags: ["vino:ready=x"] } }],
    ["it was complete", { vm: { ...VM, name_description: formatMark(IDENTITY, {}, true) } }],
    ["another user made it", { vm: { ...VM, creation: { user: "other" } } }],
    ["it is in another pool", { vm: { ...VM, $pool: "q" } }],
    ["its pool is lost", { pool: undefined }],
  ])("refuses because %s", async (_what, over) => {
    await expect(checkHalfMade(createApi(over), change, asked)).rejects.toThrow("changed nothing");
  });

  test("refuses a default template", async () => {
    const change2 = { ...change, thing: { ...thing, kind: "template" } } as const;
    const api = createApi({ template: { ...VM, isDefaultTemplate: true } });
    await expect(checkHalfMade(api, change2, asked)).rejects.toThrow("default template");
  });
});

describe("checkGone()", () => {
  const earlier = { vmIds: ["v"], poolId: "p" };
  const question = { identity: IDENTITY, signal };
  const renamed = { ...VM, name_label: "mine" };

  test.each<[string, object]>([
    ["does not exist", { vm: undefined }],
    ["was renamed and lost its marks", { vm: { ...renamed, name_description: "" } }],
    ["has another name and the tag of another Vino", { vm: { ...renamed, ...OF_ANOTHER } }],
  ])("lets a VM be gone that %s", async (_what, over) => {
    expect(await checkGone(createApi(over), earlier, question)).toBeUndefined();
  });

  test.each<[string, object, string]>([
    ["its name is still there", {}, "does not list it"],
    ["it was renamed and has its mark", { vm: renamed }, "name it vino-1b4e28ba-worker-0 again"],
    [
      "it was renamed and has the tag of its Vino",
      { vm: { ...renamed, name_description: "", tags: listOwnTags(IDENTITY) } },
      "name it vino-1b4e28ba-worker-0 again",
    ],
    ["its pool is lost", { vm: undefined, pool: undefined }, "is not connected any more"],
  ])("refuses because %s", async (_what, over, why) => {
    await expect(checkGone(createApi(over), earlier, question)).rejects.toThrow(why);
  });
});

describe("checkFinished()", () => {
  const record = { vm: "v" };
  const change = { kind: "deleteVm", vmId: "v", poolId: "p", linkIds: ["l"], record } as const;
  const of = { identity: IDENTITY, signal };

  test("says whether it exists", async () => {
    expect(await checkFinished(createApi(), change, of)).toBe(true);
    expect(await checkFinished(createApi({ vm: undefined }), change, of)).toBe(false);
  });

  test.each<[string, object]>([
    ["it runs again", { vm: { ...VM, power_state: "Running" } }],
    ["it has lost its mark", { vm: { ...VM, name_description: "" } }],
    ["it has another disk", { vm: { ...VM, $VBDs: ["l", "m"] } }],
    ["it is in another pool", { vm: { ...VM, $pool: "q" } }],
    ["its pool is lost", { pool: undefined }],
  ])("refuses because %s", async (_what, over) => {
    await expect(checkFinished(createApi(over), change, of)).rejects.toThrow("changed nothing");
  });
});

describe("checkOrphan()", () => {
  const change = { kind: "deleteDisk", diskId: "d", diskName: `${NAME}.root` } as const;
  const disk = { id: "d", name_label: `${NAME}.root`, size: 1, $pool: "p", $VBDs: [] };

  test("says whether it exists", async () => {
    expect(await checkOrphan(createApi({ disk }), change, signal)).toBe(true);
    expect(await checkOrphan(createApi(), change, signal)).toBe(false);
  });

  test.each<[string, object]>([
    ["it is attached", { disk: { ...disk, $VBDs: ["l"] } }],
    ["it has another name", { disk: { ...disk, name_label: "x" } }],
    ["its pool is lost", { disk, pool: undefined }],
  ])("refuses because %s", async (_what, over) => {
    await expect(checkOrphan(createApi(over), change, signal)).rejects.toThrow("changed nothing");
  });
});
