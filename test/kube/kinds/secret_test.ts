import { expect, test } from "bun:test";
import { toSecretData } from "../../../lib/kube/kinds/secret.ts";

test("toSecretData() encodes texts, in the order of their keys", () => {
  expect(JSON.stringify(toSecretData({ b: "1", a: "ä" }))).toBe('{"a":"w6Q=","b":"MQ=="}');
});
