import { expect, test } from "bun:test";
import { NO_TAG_LABELS } from "../../../../lib/cloud/tag_labels.ts";
import { toVmTagLabels } from "../../../../lib/providers/xenorchestra/model/tags.ts";

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
