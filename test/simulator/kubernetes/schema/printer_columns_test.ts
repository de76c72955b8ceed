import { expect, test } from "bun:test";
import { readJsonPath } from "../../../../lib/simulator/kubernetes/schema/printer_columns.ts";

const CLUSTER = {
  metadata: { creationTimestamp: "2026-01-01T00:00:00Z" },
  status: {
    conditions: [
      { type: "Scheduled", status: "True" },
      { type: "Ready", status: "False", reason: "Unschedulable" },
    ],
    counts: { Worker: { summary: "2/3" } },
  },
};

test.each<[string, string | undefined]>([
  [".metadata.creationTimestamp", "2026-01-01T00:00:00Z"],
  [".status.counts.Worker.summary", "2/3"],
  ['.status.conditions[?(@.type=="Ready")].reason', "Unschedulable"],
  ['.status.conditions[?(@.type=="Gone")].reason', undefined],
  [".status.counts.ControlPlane.summary", undefined],
  [".spec.online", undefined],
])("readJsonPath() reads %s", (path, value) => {
  expect(readJsonPath(CLUSTER, path)).toBe(value);
});

test("readJsonPath() refuses a path of another form", () => {
  expect(() => readJsonPath(CLUSTER, ".status.conditions[0].type")).toThrow("conditions[0]");
});
