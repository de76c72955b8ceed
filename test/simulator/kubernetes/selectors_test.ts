import { expect, test } from "bun:test";
import { findKind } from "../../../lib/simulator/kubernetes/schema/kinds.ts";
import {
  parseFieldSelector,
  parseLabelSelector,
} from "../../../lib/simulator/kubernetes/selectors.ts";

const own = { uid: "u", resourceVersion: "1", creationTimestamp: "" };
const EVENT = {
  metadata: { name: "e", namespace: "default", labels: { a: "b" }, ...own },
  involvedObject: { kind: "Node", name: "n" },
};

test.each([
  ["a=b", true],
  ["a==b,c!=d", true],
  ["a!=b", false],
  ["a in (x, b)", true],
  ["a notin (b)", false],
  ["c notin (b)", true],
  ["a,!c", true],
  ["!a", false],
  ["", true],
])("parseLabelSelector() %p selects: %p", (text, expected) => {
  expect(parseLabelSelector(text)(EVENT)).toBe(expected);
});

test.each([
  ["involvedObject.kind=Node,involvedObject.name=n", true],
  ["involvedObject.name!=n", false],
  ["metadata.namespace=default", true],
])("parseFieldSelector() %p selects: %p", (text, expected) => {
  const kind = findKind("", "v1", "events");
  if (kind === undefined) throw new TypeError("no kind for events");
  expect(parseFieldSelector(kind, text)(EVENT)).toBe(expected);
  expect(() => parseFieldSelector(kind, "message=x")).toThrow("not supported: message");
});
