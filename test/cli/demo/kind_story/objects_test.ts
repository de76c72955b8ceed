import { expect, test } from "bun:test";
import {
  conditionOf,
  labelOf,
  messageOf,
  toCustomKind,
} from "../../../../lib/cli/demo/kind_story/objects.ts";
import { VINO_KIND } from "../../../../lib/controllers/vino/resource/crd.ts";
import { VINOES } from "../../../../lib/controllers/vino/resource/vino.ts";
import type { ApiObject } from "../../../../lib/simulator/kubernetes/mod.ts";

const TIMES = { resourceVersion: "1", creationTimestamp: "2026-01-01T00:00:00Z" };

function toObject(observedGeneration: number): ApiObject {
  const ready = { type: "Ready", status: "False", reason: "Why", message: "because" };
  return {
    metadata: { ...TIMES, name: "a", uid: "u", generation: 2, labels: { k: "v" } },
    status: { conditions: [{ ...ready, observedGeneration }] },
  };
}

test("conditionOf() has the condition of the newest spec only", () => {
  expect(conditionOf(toObject(2))).toBe("False Why");
  expect(conditionOf(toObject(1))).toBe("");
  expect(conditionOf(toObject(2), "Other")).toBe("");
  expect(conditionOf(undefined)).toBe("");
});

test("messageOf() names the object, and labelOf() reads a label", () => {
  expect(messageOf(toObject(2), "Ready")).toBe("a: because");
  expect([labelOf(toObject(2), "k"), labelOf(toObject(2), "none")]).toEqual(["v", ""]);
});

test("toCustomKind() has the columns of the CustomResourceDefinition", () => {
  const { columns = [] } = toCustomKind(VINOES, VINO_KIND.crd);
  expect(columns.map(({ name }) => name)).toEqual([
    "Ready",
    "Reason",
    "Machines",
    "Unwanted",
    "Hosts",
    "Differences",
    "Age",
  ]);
});
