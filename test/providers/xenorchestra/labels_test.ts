/**
 * The frozen label keys, tags and instance types, and the values under them.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { isLabelKey, isLabelValue } from "../../../lib/core/text/label.ts";
import {
  findTagValue,
  formatInstanceType,
  LABEL_DESCRIPTIONS,
  toLabels,
  toVmTagLabels,
} from "../../../lib/providers/xenorchestra/labels.ts";
import { NO_TAG_LABELS } from "../../../lib/cloud/tag_labels.ts";

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
    expect(toLabels({ poolId: "p", powerState: "Running" })).toEqual({
      "topology.k8s.xenorchestra/pool_id": "p",
    });
  });
});

const PREFIXES = ["example.com/", "topology.k8s.xenorchestra/"];

test("toVmTagLabels() reads tags of the form key=value, with or without blanks around them", () => {
  const tags = ["k8s", "example.com/rack=7", " example.com/row = b ", "example.com/none", "=x"];
  expect(toVmTagLabels(tags, PREFIXES)?.labels).toEqual({
    "example.com/rack": "7",
    "example.com/row": "b",
  });
});

test("toVmTagLabels() leaves the labels of Xen Orchestra itself to Xen Orchestra", () => {
  const found = toVmTagLabels(["topology.k8s.xenorchestra/pool_id=x"], PREFIXES);
  expect(found?.labels).toEqual({});
  expect(found?.refused).toEqual([expect.stringContaining("is reserved")]);
});

test("toVmTagLabels() tells no labels from labels that are not known", () => {
  expect(toVmTagLabels([], PREFIXES)?.labels).toEqual({});
  expect(toVmTagLabels(undefined, PREFIXES)).toBeUndefined();
  // Without the setting there are none, whatever Xen Orchestra tells.
  expect(toVmTagLabels(undefined, [])).toBe(NO_TAG_LABELS);
  expect(toVmTagLabels(["example.com/rack=7"], [])).toBe(NO_TAG_LABELS);
});

test("toVmTagLabels() gives what nothing can change", () => {
  const found = toVmTagLabels(["example.com/rack=7"], PREFIXES);
  expect([found, found?.labels, found?.unclear].every(Object.isFrozen)).toBe(true);
});

const GIB = 2 ** 30;

describe("formatInstanceType()", () => {
  test.each([
    [4, 8, "4vCPU-8GB"],
    [1, 0.5, "1vCPU-0GB"],
    [1, 1.5, "1vCPU-2GB"],
    [2, 2.5, "2vCPU-2GB"],
    [2, 4.5, "2vCPU-4GB"],
    [2, 4.500001, "2vCPU-5GB"],
    [16, 15.9, "16vCPU-16GB"],
    [128, 1024, "128vCPU-1024GB"],
  ])("%d CPUs and %d GiB are rounded half to even", (cpus, gib, expected) => {
    expect(formatInstanceType(cpus, gib * GIB)).toBe(expected);
  });
});

describe("findTagValue()", () => {
  test.each([
    [["a", "type=big", "type=aaa"], "aaa"],
    [["type="], undefined],
    [["my-type=x"], undefined],
    [[], undefined],
  ])("of %p is %p", (tags, expected) => {
    expect(findTagValue(tags, "type=")).toBe(expected);
  });
});
