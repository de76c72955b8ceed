import { expect, test } from "bun:test";
import { describeConsumer } from "../../../lib/controllers/kinds/consumer.ts";

test.each([
  [{ kind: "Metal3Machine", namespace: "tenants", name: "a" }, "Metal3Machine tenants/a"],
  [{ kind: "Metal3Machine", name: "a" }, "Metal3Machine a"],
  [{ name: "a" }, "a"],
  [{}, ""],
])("describeConsumer(%j) is %p", (consumer, expected) => {
  expect(describeConsumer(consumer)).toBe(expected);
});
