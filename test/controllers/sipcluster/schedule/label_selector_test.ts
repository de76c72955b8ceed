import { expect, test } from "bun:test";
import type { LabelSelector } from "../../../../lib/controllers/sipcluster/resource/sip_cluster.ts";
import {
  readLabel,
  toMatcher,
} from "../../../../lib/controllers/sipcluster/schedule/label_selector.ts";

const LABELS = { flavor: "worker", rack: "" };

type Operator = NonNullable<LabelSelector["matchExpressions"]>[number]["operator"];

function toExpression(
  key: string,
  operator: Operator,
  ...values: readonly string[]
): LabelSelector {
  return { matchExpressions: [{ key, operator, values }] };
}

test.each<[string, LabelSelector | undefined, boolean]>([
  ["no selector", undefined, true],
  ["an empty selector", { matchLabels: {}, matchExpressions: [] }, true],
  ["a label", { matchLabels: { flavor: "worker" } }, true],
  ["a label with another value", { matchLabels: { flavor: "control-plane" } }, false],
  ["a label with an empty value", { matchLabels: { rack: "" } }, true],
  ["an empty value of a label that is missing", { matchLabels: { room: "" } }, false],
  ["In", toExpression("flavor", "In", "a", "worker"), true],
  ["In, with other values", toExpression("flavor", "In", "a"), false],
  ["In, without the label", toExpression("room", "In", "a"), false],
  ["NotIn", toExpression("flavor", "NotIn", "a"), true],
  ["NotIn, with the value", toExpression("flavor", "NotIn", "worker"), false],
  ["NotIn, without the label", toExpression("room", "NotIn", "a"), true],
  ["Exists", toExpression("rack", "Exists"), true],
  ["Exists, without the label", toExpression("room", "Exists"), false],
  ["DoesNotExist", toExpression("room", "DoesNotExist"), true],
  ["DoesNotExist, with the label", toExpression("rack", "DoesNotExist"), false],
  ["the name of a member of Object", toExpression("constructor", "Exists"), false],
  [
    "terms of which one does not hold",
    { matchLabels: { flavor: "worker" }, ...toExpression("room", "Exists") },
    false,
  ],
])("toMatcher() with %s", (_, selector, expected) => {
  expect(toMatcher(selector)(LABELS)).toBe(expected);
});

test("readLabel() tells an empty value from none", () => {
  expect([readLabel(LABELS, "rack"), readLabel(LABELS, "toString")]).toEqual(["", undefined]);
});
