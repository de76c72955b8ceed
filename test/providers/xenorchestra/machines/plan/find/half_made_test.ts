import { describe, expect, test } from "bun:test";
import type { Vm } from "../../../../../../lib/providers/xenorchestra/machines/look/view.ts";
import {
  explainKeeping,
  judgeOwner,
  wasComplete,
} from "../../../../../../lib/providers/xenorchestra/machines/plan/find/half_made.ts";
import {
  GIB,
  IDENTITY,
  NAME,
  type SceneOptions,
  toCompleteVm,
  toDisk,
  toLink,
  toOwnDisk,
  toTemplate,
  toView,
  toVm,
} from "../../scene.ts";

const KEPT = { at: 1, templates: ["template-1"] };

function explain(vm: Vm, options: SceneOptions = {}, record: object = KEPT): string | undefined {
  const { stock } = toView({ vms: [vm], ...options });
  return explainKeeping(vm, { identity: IDENTITY, stock, record, template: toTemplate() });
}

describe("explainKeeping()", () => {
  const inherited = { "vm-1": [toLink("vm-1", 0, toDisk({ id: "copy" }))] };
  test.each<[string, Vm, SceneOptions]>([
    ["that has everything", toVm(), {}],
    [
      "without a description, creation and interfaces",
      toVm({ description: "", linkIds: [] }),
      { links: { "vm-1": [] } },
    ],
    ["with the disk of its template", toVm({ linkIds: ["link-vm-1-0"] }), { links: inherited }],
    [
      "with an empty drive",
      toVm({ linkIds: ["link-vm-1-0"] }),
      { links: { "vm-1": [toLink("vm-1", 0, undefined)] } },
    ],
  ])("lets a half-made VM go %s", (_what, vm, options) => {
    expect(explain(vm, options)).toBeUndefined();
  });

  const foreign = toDisk({ id: "x", name: "important" });
  test.each<[string, Vm, SceneOptions]>([
    ["it has another name", toVm({ name: "vino-1b4e28ba-worker-1" }), {}],
    [
      "it has the mark of another machine",
      toVm({ description: "vino uid=x role=worker index=0" }),
      {},
    ],
    ["it was complete once", toCompleteVm(), {}],
    ["it was complete once", toCompleteVm({ tags: [] }), {}],
    ["it was complete once", toCompleteVm({ description: "" }), {}],
    ["it is not halted", toVm({ power: "running" }), {}],
    ["it is not halted", toVm({ power: "unknown" }), {}],
    ["it was started", toVm({ isStarted: true }), {}],
    ["an operation runs on it", toVm({ isBusy: true }), {}],
    ["it has a snapshot", toVm({ hasSnapshots: true }), {}],
    ["another user made it", toVm({ creation: { user: "other", template: "template-1" } }), {}],
    ["another user made it", toVm(), { stock: { userId: "other" } }],
    [
      "it was made from another template",
      toVm({ creation: { user: "user-1", template: "t9" } }),
      {},
    ],
    ["it is the template of the machine", toVm({ id: "template-1" }), {}],
    ["one of its disks cannot be seen", toVm({ linkIds: ["hidden"] }), {}],
    [
      "it has a disk that Landfall did not make",
      toVm(),
      {
        links: { "vm-1": [toLink("vm-1", 0, foreign), toLink("vm-1", 1, toOwnDisk("data", GIB))] },
      },
    ],
  ])("keeps it because %s", (why, vm, options) => {
    expect(explain(vm, options)).toBe(why);
  });

  test("keeps what nothing says that Landfall asked for", () => {
    const { creation: _creation, ...vm } = toVm();
    expect(explain(vm, {}, {})).toBe("nothing says that Landfall asked for it");
    expect(explain(vm, { tasks: [{ id: "t", status: "interrupted" }] }, {})).toBeUndefined();
    expect(explain(vm)).toBeUndefined();
  });

  test("keeps a default template", () => {
    expect(explain({ ...toTemplate({ id: "t2", name: NAME, isDefault: true }) })).toBe(
      "it is a default template",
    );
  });

  test("accepts the template that a task asked for", () => {
    const vm = toVm({ creation: { user: "user-1", template: "t9" } });
    const tasks = [{ id: "t", status: "failure", template: "t9" }] as const;
    expect(explain(vm, { tasks })).toBeUndefined();
  });

  test("accepts the disk of the template that a task asked for, although the record is lost", () => {
    const { creation: _creation, ...vm } = toVm({ linkIds: ["link-vm-1-0"] });
    const explainRemoval = (asked: string): string | undefined => {
      const tasks = [{ id: "t", status: "interrupted", template: asked }] as const;
      const { stock } = toView({ vms: [vm], links: inherited, tasks });
      return explainKeeping(vm, { identity: IDENTITY, stock, record: {} });
    };
    expect(explainRemoval("template-1")).toBeUndefined();
    expect(explainRemoval("t9")).toBe("it has a disk that Landfall did not make");
  });
});

test.each<["ours" | "unmarked" | "foreign", Partial<Vm>]>([
  ["ours", {}],
  ["ours", { description: "", tags: [`vino:uid=${IDENTITY.owner.uid}`] }],
  ["unmarked", { description: "" }],
  ["foreign", { description: "vino uid=x role=worker index=0" }],
  ["foreign", { description: "", tags: ["vino:uid=x"] }],
])("judgeOwner() says %s for %o", (whose, over) => {
  expect(judgeOwner(toVm(over), IDENTITY)).toBe(whose);
});

test("wasComplete() knows it by tag, by description and by the record", () => {
  expect(wasComplete(toVm(), {})).toBe(false);
  expect(wasComplete(toCompleteVm({ description: "" }), {})).toBe(true);
  expect(wasComplete(toCompleteVm({ tags: [] }), {})).toBe(true);
  expect(wasComplete(toVm(), { vm: "vm-1" })).toBe(true);
  expect(wasComplete(toVm(), { vm: "vm-2" })).toBe(false);
});
