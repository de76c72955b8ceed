import { describe, expect, test } from "bun:test";
import {
  EXCLUSION_LABEL,
  findRecord,
  formatRecord,
  formatReleasedRecord,
  isExcluded,
  isOutOfServiceByUs,
  listForeignlyTainted,
  listOutOfServiceTaints,
  OUT_OF_SERVICE_RECORD,
  OUT_OF_SERVICE_TAINT,
} from "../../../lib/controllers/fleet/out_of_service.ts";
import type { Node } from "../../../lib/kube/kinds/node.ts";
import { toNode } from "../../support/nodes/nodes.ts";

function toRecorded(record: string, taints: readonly { key: string; effect: string }[] = []): Node {
  const node = toNode("n", { taints });
  return {
    ...node,
    metadata: { ...node.metadata, annotations: { [OUT_OF_SERVICE_RECORD]: record } },
  };
}

test("the words are frozen", () => {
  expect(OUT_OF_SERVICE_TAINT).toEqual({
    key: "node.kubernetes.io/out-of-service",
    value: "nodeshutdown",
    effect: "NoExecute",
  });
  expect(OUT_OF_SERVICE_RECORD).toBe("landfall.dev/out-of-service");
  expect(EXCLUSION_LABEL).toBe("landfall.dev/exclude-from-out-of-service");
});

describe("findRecord()", () => {
  test.each([
    { timeMs: Date.UTC(2026, 0, 2, 3, 4, 5, 6), bootId: "9f3c" },
    { timeMs: 0, bootId: "" },
  ])("reads what formatRecord() writes: %p", (record) => {
    expect(findRecord(toRecorded(formatRecord(record)))).toEqual(record);
  });

  test("finds none without the annotation, and no time in nonsense", () => {
    expect(findRecord(toNode("n"))).toBeUndefined();
    expect(findRecord(toRecorded("yesterday"))).toEqual({ timeMs: NaN, bootId: "" });
  });
});

test.each(["2026-01-02T03:04:05.006Z 9f3c", "2026-01-02T03:04:05.006Z", "yesterday"])(
  "formatReleasedRecord() keeps what %p says, and that the taint is not ours any more",
  (text) => {
    const before = findRecord(toRecorded(text));
    if (before === undefined) throw new TypeError("it has a record");
    const released = toRecorded(formatReleasedRecord(toRecorded(text)), [OUT_OF_SERVICE_TAINT]);
    expect(findRecord(released)).toEqual({ ...before, isReleased: true });
    expect(isOutOfServiceByUs(released)).toBe(false);
    expect(listForeignlyTainted([released])).toEqual(["n"]);
  },
);

test("isOutOfServiceByUs() needs the record and the very taint", () => {
  const { key, effect } = OUT_OF_SERVICE_TAINT;
  const other = { key, effect, value: "mine" };
  expect(isOutOfServiceByUs(toRecorded("", [OUT_OF_SERVICE_TAINT]))).toBe(true);
  expect(isOutOfServiceByUs(toRecorded("", [other]))).toBe(false);
  expect(isOutOfServiceByUs(toRecorded(""))).toBe(false);
  expect(isOutOfServiceByUs(toNode("n", { taints: [OUT_OF_SERVICE_TAINT] }))).toBe(false);
});

test("listOutOfServiceTaints() goes by the key alone", () => {
  const other = { key: OUT_OF_SERVICE_TAINT.key, effect: "NoSchedule" };
  const taints = [other, { key: "example.com/x", effect: "NoExecute" }];
  expect(listOutOfServiceTaints(toNode("n", { taints }))).toEqual([other]);
});

test("listForeignlyTainted() names the Nodes with the taint and without our record", () => {
  const foreign = toNode("a", { taints: [OUT_OF_SERVICE_TAINT] });
  const ours = toRecorded("", [OUT_OF_SERVICE_TAINT]);
  expect(listForeignlyTainted([foreign, ours, toNode("b")])).toEqual(["a"]);
});

test("isExcluded() goes by the label, whatever its value", () => {
  expect(isExcluded(toNode("n", { labels: { [EXCLUSION_LABEL]: "" } }))).toBe(true);
  expect(isExcluded(toNode("n", { labels: { [EXCLUSION_LABEL]: "false" } }))).toBe(true);
  expect(isExcluded(toNode("n"))).toBe(false);
});
