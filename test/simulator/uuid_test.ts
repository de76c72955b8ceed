import { expect, test } from "bun:test";
import { toUuid } from "../../lib/simulator/uuid.ts";

test("toUuid() is a UUID in lower case, the same for the same name", () => {
  expect(toUuid("a")).toMatch(
    /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
  );
  expect(toUuid("a")).toBe(toUuid("a"));
  expect(toUuid("a")).not.toBe(toUuid("b"));
});
