import { expect, test } from "bun:test";
import {
  encodeBookmark,
  encodeEvent,
  encodeList,
  encodeObject,
  type Form,
} from "../../../../lib/simulator/kubernetes/requests/encoding.ts";
import { Stored } from "../../../../lib/simulator/kubernetes/store.ts";
import { kindOf } from "../../../support/kube/kinds/simulator_kinds.ts";

const METADATA = { name: "n", uid: "u", resourceVersion: "7", creationTimestamp: "" };
const NODE = new Stored({ metadata: METADATA, spec: { providerID: "p" } });
const JSON_FORM: Form = { table: undefined };
const TABLE_FORM: Form = { table: { includeObject: "None", nowMs: 0 } };

test.each([
  ["nodes", "Node", "v1"],
  ["leases", "Lease", "coordination.k8s.io/v1"],
])("encodeObject() of one of %s adds kind %s and apiVersion %s", (plural, kind, apiVersion) => {
  const text = encodeObject(kindOf(plural), NODE, JSON_FORM);
  expect(JSON.parse(text)).toEqual({ kind, apiVersion, ...NODE.object });
});

test("encodeObject() as a Table carries the version of the object", () => {
  const table = JSON.parse(encodeObject(kindOf("nodes"), NODE, TABLE_FORM));
  expect(table).toMatchObject({ kind: "Table", metadata: { resourceVersion: "7" } });
  expect(table.rows).toHaveLength(1);
});

test.each([
  [{}, { resourceVersion: "9" }],
  [{ continue: "token" }, { resourceVersion: "9", continue: "token" }],
  [
    { continue: "token", remainingItemCount: 2 },
    { resourceVersion: "9", continue: "token", remainingItemCount: 2 },
  ],
])("encodeList() of a list with %j has metadata %j, in both forms", (more, metadata) => {
  const list = { items: [NODE], resourceVersion: "9", ...more };
  expect(JSON.parse(encodeList(kindOf("nodes"), list, JSON_FORM))).toEqual({
    kind: "NodeList",
    apiVersion: "v1",
    metadata,
    items: [NODE.object],
  });
  const table = JSON.parse(encodeList(kindOf("nodes"), list, TABLE_FORM));
  expect(table).toMatchObject({ kind: "Table", metadata });
  expect(table.metadata).toEqual(metadata);
});

test("encodeList() of nothing has an empty list of items", () => {
  const list = JSON.parse(
    encodeList(kindOf("leases"), { items: [], resourceVersion: "1" }, JSON_FORM),
  );
  expect(list).toMatchObject({ kind: "LeaseList", apiVersion: "coordination.k8s.io/v1" });
  expect(list.items).toEqual([]);
});

test("encodeEvent() is one line, whatever the object ended with", () => {
  expect(encodeEvent("ADDED", '{"a":1}\n')).toBe('{"type":"ADDED","object":{"a":1}}\n');
});

test.each([
  [undefined, {}],
  [{ "k8s.io/initial-events-end": "true" }, { "k8s.io/initial-events-end": "true" }],
])("encodeBookmark() with annotations %j has only them and a version", (given, annotations) => {
  expect(JSON.parse(encodeBookmark(kindOf("nodes"), 12, given))).toEqual({
    kind: "Node",
    apiVersion: "v1",
    metadata: {
      resourceVersion: "12",
      creationTimestamp: null,
      ...(given === undefined ? {} : { annotations }),
    },
  });
});
