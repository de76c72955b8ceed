import { expect, test } from "bun:test";
import { Tags, type Tag } from "../../../../lib/simulator/cloudstack/world/tags.ts";

const toTag = (resourceId: string, key: string, value = "v"): Tag => ({
  key,
  value,
  resourceType: "PublicIpAddress",
  resourceId,
  accountId: "a",
});

test("Tags keeps each key once on an object, whatever its case", () => {
  const tags = new Tags([toTag("ip-1", "k")]);
  expect(() => tags.add(toTag("ip-1", "K"))).toThrow(RangeError);
  tags.add(toTag("ip-1", "other"));
  tags.add(toTag("ip-2", "k", "w"));
  expect(tags.of("ip-1").map(({ key }) => key)).toEqual(["k", "other"]);
  expect([tags.has("ip-2", "K"), tags.has("ip-2", "other"), tags.has("ip-3", "k")]).toEqual([
    true,
    false,
    false,
  ]);
  expect(tags.all).toHaveLength(3);
});

test("Tags removes one key, or all of an object that is gone", () => {
  const tags = new Tags([toTag("ip-1", "a"), toTag("ip-1", "b"), toTag("ip-2", "a")]);
  tags.remove("ip-1", "A");
  expect(tags.of("ip-1").map(({ key }) => key)).toEqual(["b"]);
  tags.remove("ip-1", "none");
  tags.drop("ip-1");
  expect(tags.all).toEqual([toTag("ip-2", "a")]);
});
