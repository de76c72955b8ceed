import { describe, expect, test } from "bun:test";
import type { Vm } from "../../../../../../lib/providers/xenorchestra/machines/look/view.ts";
import {
  compareMarks,
  compareVm,
} from "../../../../../../lib/providers/xenorchestra/machines/plan/compare/vm.ts";
import { toWanted } from "../../../../../../lib/providers/xenorchestra/machines/plan/wanted/resolve.ts";
import { NAME, toCompleteVm, toSpec, toView, toVm } from "../../scene.ts";

function compare(vm: Vm): string[] {
  const view = toView({ vms: [vm] });
  const wanted = toWanted(view, toSpec());
  const { differences } = compareVm(view, toSpec(), { vm, wanted, record: {} });
  return differences.map(({ fix, problem }) => fix?.summary ?? problem?.reason ?? "");
}

describe("compareVm()", () => {
  test.each<[string, Vm, readonly string[]]>([
    ["nothing of one that is as it should be", toCompleteVm(), []],
    ["CPUs", toCompleteVm({ cpus: 1 }), [`set the CPUs of ${NAME} to 2`]],
    ["memory", toCompleteVm({ memoryBytes: 1 }), [`set the memory of ${NAME} to 4Gi`]],
    [
      "missing tags",
      toCompleteVm({ tags: ["vino:ready=x", "vino"] }),
      [`tag ${NAME} with vino:uid=${toSpec().owner.uid}`],
    ],
    [
      "a lost mark",
      toCompleteVm({ description: "" }),
      [`put the mark back into the description of ${NAME}`],
    ],
    [
      "a lost protection",
      {
        ...toVm(),
        tags: toCompleteVm().tags,
        description: toCompleteVm().description,
        ...(toCompleteVm().mark && { mark: toCompleteVm().mark }),
      } as Vm,
      [`protect ${NAME} from deletion`],
    ],
    ["no marks before it is complete", toVm(), []],
  ])("finds %s", (_what, vm, found) => {
    expect(compare(vm)).toEqual([...found]);
  });
});

test.each([
  ["disk", "cd", 0],
  ["network", "ncd", 0],
  ["network", "cd", 1],
] as const)(
  "compareVm() of one for %s that starts in the order %s finds %i differences without a remedy",
  (boot, order, count) => {
    const vm = toVm({ bootOrder: order });
    const spec = toSpec({ boot });
    const view = toView({ vms: [vm] });
    const { differences } = compareVm(view, spec, { vm, wanted: toWanted(view, spec), record: {} });
    expect(differences.map(({ part, fix }) => [part.name, fix])).toEqual(
      Array.from({ length: count }, () => ["boot", undefined]),
    );
  },
);

test("compareMarks() keeps what the mark says of the first host", () => {
  const vm = toCompleteVm({ description: "vino uid=x role=worker index=0 host=h9 hash=old ready" });
  const fixes = compareMarks(toSpec(), vm).differences.map(({ fix }) => fix?.change);
  expect(fixes).toEqual([
    {
      kind: "patchVm",
      vmId: "vm-1",
      fields: {
        nameDescription: `vino uid=${toSpec().owner.uid} role=worker index=0 host=h9 hash=old ready`,
      },
    },
  ]);
});
