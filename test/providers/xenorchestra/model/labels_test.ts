/**
 * The frozen label keys, and the values under them.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { isLabelKey, isLabelValue } from "../../../../lib/core/text/label.ts";
import {
  LABEL_DESCRIPTIONS,
  toLabels,
} from "../../../../lib/providers/xenorchestra/model/labels.ts";

describe("LABEL_DESCRIPTIONS", () => {
  test("holds exactly the keys that are in clusters already", () => {
    expect(Object.keys(LABEL_DESCRIPTIONS)).toEqual([
      "vm.k8s.xenorchestra/name_label",
      "topology.k8s.xenorchestra/pool_id",
      "topology.k8s.xenorchestra/pool_name_label",
      "topology.k8s.xenorchestra/host_id",
      "topology.k8s.xenorchestra/host_name_label",
      "topology.k8s.xenorchestra/original_host_id",
      "topology.k8s.xenorchestra/original_pool_id",
    ]);
    for (const key of Object.keys(LABEL_DESCRIPTIONS)) expect(isLabelKey(key)).toBe(true);
  });
});

describe("toLabels()", () => {
  test.each([
    ["k8s-worker-1", "k8s-worker-1"],
    ["n\u0153ud-1", "n-ud-1"],
    ['odd (name) "quoted" | x:y \u00e9 & \\ #1', "odd--name---quoted----x-y--------1"],
    ["--dashes--", "dashes"],
    ["\u00e9\u00e9", ""],
    [`${"a".repeat(62)}-b`, "a".repeat(62)],
    ["a".repeat(70), "a".repeat(63)],
    [`${"a".repeat(62)}\u{1f600}`, "a".repeat(62)],
  ])("C-06 makes the VM name %p the value %p", (vmName, expected) => {
    const value = toLabels({ vmName })["vm.k8s.xenorchestra/name_label"];
    expect(value).toBe(expected);
    expect(isLabelValue(value ?? "?")).toBe(true);
  });

  test("leaves out what is not known", () => {
    expect(toLabels({ poolId: "p", poolName: undefined })).toEqual({
      "topology.k8s.xenorchestra/pool_id": "p",
    });
  });
});
