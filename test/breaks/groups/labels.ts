/**
 * Breaks of what settings change about labels and addresses.
 * @module
 */
import { type Break, edit } from "../break.ts";

const TAG_LABELS = "lib/controllers/tag_labels.ts";
const TAGS = "lib/cloud/tag_labels.ts";
const IDENTITY = "lib/providers/xenorchestra/model/identity.ts";
const TOPOLOGY = "lib/providers/xenorchestra/model/topology.ts";

export const LABEL_BREAKS: readonly Break[] = [
  {
    id: "keep-tag-labels",
    invariant: "a label is removed when its tag is removed",
    edits: edit(
      TAG_LABELS,
      "if (now === undefined || !isOurs) continue;",
      'if (now !== "" || !isOurs) continue;',
    ),
    tests: ["test/controllers/tag_labels_test.ts"],
    simulated: "nodes",
  },
  {
    id: "take-labels-of-others",
    invariant: "a label that Landfall did not set is not changed for a tag",
    edits: edit(
      TAG_LABELS,
      "const isOurs = now === undefined || now === last;",
      "const isOurs = now === undefined || now !== null;",
    ),
    tests: ["test/controllers/tag_labels_test.ts"],
  },
  {
    id: "trust-any-record",
    invariant: "a kubelet cannot have labels removed that it has no right to remove",
    edits: edit(
      TAG_LABELS,
      "const isFit = isLabelKey(key) && !isReservedLabelKey(key);",
      "const isFit = isLabelKey(key);",
    ),
    tests: ["test/controllers/tag_labels_test.ts"],
  },
  {
    id: "take-reserved-tags",
    invariant: "no tag gives a Node a label that a kubelet has no right to set",
    edits: edit(
      TAGS,
      "if (isReservedLabelKey(labelKey) || isOwnKey(labelKey)) {",
      "if (isOwnKey(labelKey)) {",
    ),
    tests: ["test/cloud/tag_labels_test.ts"],
  },
  {
    id: "believe-region-name",
    invariant: "if the region label has a custom name, the pool label says where a VM may be",
    edits: edit(
      IDENTITY,
      'const labelledPoolId = parseUuid(labels?.[POOL_ID_LABEL] ?? "") ?? ofRegion;',
      "const labelledPoolId = ofRegion;",
    ),
    tests: ["test/providers/xenorchestra/proof/absence_test.ts"],
  },
  {
    id: "forget-region-label",
    invariant: "if the two labels of a pool differ, both pools count",
    edits: edit(
      IDENTITY,
      "const regionPoolId = ofRegion === labelledPoolId ? undefined : ofRegion;",
      "const regionPoolId = undefined;",
    ),
    tests: ["test/providers/xenorchestra/proof/absence_test.ts"],
  },
  {
    id: "guess-zone-of-halted",
    invariant: "a VM that does not run has no zone that only some hosts of its pool have",
    edits: edit(TOPOLOGY, "return others.length === 0 ? zone : undefined;", "return zone;"),
    tests: ["test/providers/xenorchestra/model/topology_test.ts"],
  },
  {
    id: "write-left-addresses",
    invariant: "addresses that are left alone are not written",
    edits: edit(
      "lib/controllers/addresses.ts",
      'if (policy === "leave") return { kind: "keep" };',
      'if (policy === "leave") void policy;',
    ),
    tests: ["test/controllers/addresses_test.ts"],
  },
];
