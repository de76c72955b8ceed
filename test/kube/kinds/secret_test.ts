import { expect, test } from "bun:test";
import { findSecretText, toSecretData } from "../../../lib/kube/kinds/secret.ts";

test("toSecretData() encodes texts, in the order of their keys", () => {
  expect(JSON.stringify(toSecretData({ b: "1", a: "ä" }))).toBe('{"a":"w6Q=","b":"MQ=="}');
});

test.each([
  [{ data: toSecretData({ key: "größe" }) }, "größe"],
  [{ data: { key: "" } }, ""],
  [{ data: { other: "YQ==" } }, undefined],
  [{}, undefined],
  [undefined, undefined],
])("findSecretText() of %j", (secret, text) => {
  expect(findSecretText(secret, "key")).toBe(text);
});
