import { expect, test } from "bun:test";
import * as v from "valibot";
import { toCrd } from "../../../lib/controllers/kinds/crd.ts";
import { object, required } from "../../../lib/controllers/kinds/parts.ts";
import {
  conditions,
  STATUS_NUMBER,
  STATUS_TEXT,
} from "../../../lib/controllers/kinds/status_parts.ts";

interface Status {
  readonly count: number;
  readonly name: string;
  readonly conditions: readonly object[];
}

test("a status has numbers and texts without limits, and one condition of each type", () => {
  const schema = object<Status>({
    count: required(STATUS_NUMBER, "A count."),
    name: required(STATUS_TEXT, "A name."),
    conditions: required(conditions("Ready or Blocked"), "Conditions."),
  });
  const part = { schema, description: "A part." };
  const { spec } = toCrd({
    resource: { apiVersion: "example.org/v1", kind: "Thing", plural: "things", namespaced: true },
    shortNames: [],
    columns: [],
    description: "A thing.",
    spec: part,
    status: part,
  });
  expect(spec.versions[0].schema.openAPIV3Schema.properties?.["status"]).toMatchObject({
    properties: {
      count: { type: "integer", format: "int64" },
      name: { type: "string" },
      conditions: {
        type: "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["type"],
        items: {
          required: ["type", "status", "reason", "message", "lastTransitionTime"],
          properties: {
            type: { description: "Ready or Blocked." },
            lastTransitionTime: { format: "date-time" },
          },
        },
      },
    },
  });
});

test("conditions() accepts what we write", () => {
  const condition = {
    type: "Ready",
    status: "Unknown",
    reason: "A",
    message: "a",
    lastTransitionTime: "2026-01-01T00:00:00Z",
  };
  expect(v.is(conditions("Ready"), [condition])).toBe(true);
  expect(v.is(conditions("Ready"), [{ ...condition, status: "Maybe" }])).toBe(false);
});
