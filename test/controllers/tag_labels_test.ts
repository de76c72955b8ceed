import { describe, expect, test } from "bun:test";
import { NO_TAG_LABELS, type TagLabels } from "../../lib/cloud/tag_labels.ts";
import {
  planTagLabels,
  type TagLabelPlan,
  toMetadataPatch,
} from "../../lib/controllers/instance_labels.ts";
import { TAG_LABELS_RECORD } from "../../lib/controllers/words.ts";
import type { Node } from "../../lib/kube/kinds/node.ts";
import { toInstance } from "../support/cloud/instances.ts";
import { toNode } from "../support/nodes/nodes.ts";
import { Random } from "../support/random.ts";
import { tries } from "../support/extent.ts";

type Labels = Readonly<Record<string, string>>;

const RACK = "example.com/rack";
const ROW = "example.com/row";

function toTagLabels(labels: Labels, unclear: readonly string[] = []): TagLabels {
  return { labels, unclear, refused: [] };
}

/** @param record What Landfall set before; the text of the annotation, or labels that it holds */
function plan(
  labels: Labels,
  record: Labels | string | undefined,
  tagLabels: TagLabels | undefined,
): TagLabelPlan {
  const text = typeof record === "object" ? JSON.stringify(record) : record;
  const annotations = text === undefined ? {} : { [TAG_LABELS_RECORD]: text };
  const instance = toInstance("i", {
    labels: { "a.cloud/host": "h" },
    ...(tagLabels && { tagLabels }),
  });
  return planTagLabels(toNode("n", { labels, annotations }), instance);
}

test("the annotation stays what stands in clusters", () => {
  expect(TAG_LABELS_RECORD).toBe("landfall.dev/labels-from-tags");
});

describe("planTagLabels()", () => {
  const none = { set: {}, removed: [], conflicts: [] };
  test.each<[string, [Labels, Labels | string | undefined, Labels], object]>([
    [
      "removes a label whose tag is gone, and the record with the last one",
      [{ [RACK]: "7", role: "web" }, { [RACK]: "7" }, {}],
      { ...none, removed: [RACK], record: null, isRepair: false },
    ],
    [
      "puts back what somebody removed",
      [{}, { [RACK]: "7" }, { [RACK]: "7" }],
      { ...none, set: { [RACK]: "7" }, isRepair: true },
    ],
    [
      "gives up a label that somebody changed",
      [{ [RACK]: "1" }, { [RACK]: "7" }, { [RACK]: "7" }],
      {
        ...none,
        record: null,
        conflicts: [`label ${RACK} is "1", the tag says "7"`],
        isRepair: true,
      },
    ],
    [
      "takes no possession of a label that somebody else set to the same",
      [{ [RACK]: "7" }, undefined, { [RACK]: "7" }],
      { ...none, isRepair: true },
    ],
    [
      "removes no label that somebody else changed",
      [{ [RACK]: "1" }, { [RACK]: "7" }, {}],
      { ...none, record: null, isRepair: true },
    ],
    [
      "forgets a label that is gone with its tag",
      [{}, { [RACK]: "7" }, {}],
      { ...none, record: null, isRepair: true },
    ],
    [
      "leaves the cloud's own labels to the cloud",
      [{ "a.cloud/host": "h" }, { "a.cloud/host": "h" }, { "a.cloud/host": "x" }],
      { ...none, record: null, isRepair: true },
    ],
    [
      "reads nothing from a record that is none",
      [{}, "{", {}],
      { ...none, record: null, isRepair: true },
    ],
    [
      "reads nothing from a record of nulls",
      [{}, "null", {}],
      { ...none, record: null, isRepair: true },
    ],
    [
      "never removes what a kubelet may not touch, though the kubelet writes it into the record",
      [
        { "node-restriction.kubernetes.io/tenant": "a", "landfall.dev/x": "1" },
        { "node-restriction.kubernetes.io/tenant": "a", "landfall.dev/x": "1" },
        {},
      ],
      { ...none, record: null, isRepair: true },
    ],
  ])("%s", (_title, [labels, record, wanted], expected) => {
    expect<object>(plan(labels, record, toTagLabels(wanted))).toEqual(expected);
  });

  test("leaves everything while the tags are not known", () => {
    expect(plan({ [RACK]: "7" }, { [RACK]: "7" }, undefined)).toEqual({ ...none, isRepair: true });
  });

  test("removes ours when no tags become labels any more", () => {
    const { removed, record } = plan({ [RACK]: "7" }, { [RACK]: "7" }, NO_TAG_LABELS);
    expect([removed, record]).toEqual([[RACK], null]);
    expect(plan({ [RACK]: "7" }, undefined, NO_TAG_LABELS)).toEqual({ ...none, isRepair: true });
  });

  test("leaves a label as it is while two tags contradict each other", () => {
    const unclear = toTagLabels({}, [RACK]);
    expect(plan({ [RACK]: "7" }, { [RACK]: "7" }, unclear)).toEqual({ ...none, isRepair: true });
    expect(plan({ [RACK]: "1" }, undefined, unclear)).toEqual({ ...none, isRepair: true });
    expect(plan({}, undefined, unclear)).toEqual({ ...none, isRepair: true });
  });
});

/** A merge patch of a Node's metadata, as the API server applies it. */
function apply(node: Node, changes: TagLabelPlan): Node {
  const { labels = {}, annotations = {} } = toMetadataPatch({}, changes);
  const merge = (old: Labels = {}, patch: Readonly<Record<string, string | null>>): Labels =>
    Object.fromEntries(
      Object.entries({ ...old, ...patch }).flatMap(([key, value]) =>
        value === null ? [] : [[key, value]],
      ),
    );
  const { metadata } = node;
  return {
    ...node,
    metadata: {
      ...metadata,
      labels: merge(metadata.labels, labels),
      annotations: merge(metadata.annotations, annotations),
    },
  };
}

function withLabels(node: Node, labels: Labels): Node {
  return { ...node, metadata: { ...node.metadata, labels } };
}

/**
 * People add, change and remove tags and labels in any order, one leader follows the other, and a plan may be lost
 * before it is written.
 */
test("planTagLabels() plans nothing twice, never touches what somebody else set, and leaves nothing behind", () => {
  const random = new Random(13);
  const keys = [RACK, ROW, "team"];
  for (let story = 0; story < tries(400).numRuns; story += 1) {
    let node = toNode("n", { labels: { role: "web" } });
    const tags = new Map<string, string>();
    /** What somebody else set, and nobody took away since. */
    const others = new Map<string, string>([["role", "web"]]);
    for (let step = 0; step < 40; step += 1) {
      const key = random.pick(keys);
      const value = random.pick(["1", "2"]);
      const { [key]: now, ...labels } = node.metadata.labels ?? {};
      const record = JSON.parse(node.metadata.annotations?.[TAG_LABELS_RECORD] ?? "{}");
      const act = random.between(0, 3);
      if (act === 0) tags.set(key, value);
      if (act === 1) tags.delete(key);
      if (act === 2) {
        // What Landfall set is its own again when somebody puts it back.
        if (record[key] === value) others.delete(key);
        else if (now !== value) others.set(key, value);
        node = withLabels(node, { ...labels, [key]: value });
      }
      if (act === 3) {
        others.delete(key);
        node = withLabels(node, labels);
      }
      if (random.chance(0.3)) continue;
      const instance = toInstance("i", { tagLabels: toTagLabels(Object.fromEntries(tags)) });
      node = apply(node, planTagLabels(node, instance));
      expect(planTagLabels(node, instance)).toMatchObject({ set: {}, removed: [] });
      expect(planTagLabels(node, instance)).not.toHaveProperty("record");
      for (const [label, text] of tags) {
        expect(node.metadata.labels?.[label]).toBe(others.get(label) ?? text);
      }
    }
    node = apply(node, planTagLabels(node, toInstance("i", { tagLabels: NO_TAG_LABELS })));
    expect(node.metadata.labels).toEqual(Object.fromEntries(others));
    expect(node.metadata.annotations).toEqual({});
  }
});
