import { expect, test } from "bun:test";
import {
  isMissing,
  isSameEtag,
  toListPath,
} from "../../../../lib/providers/xenorchestra/wire/replies.ts";

test("isSameEtag() compares weakly", () => {
  expect(isSameEtag('W/"a"', '"a"')).toBe(true);
  expect(isSameEtag('"a"', '"b"')).toBe(false);
});

test("toListPath() encodes filters", () => {
  expect(toListPath("vms", { fields: "id", filter: "a:|(b c)" })).toBe(
    "/vms?fields=id&filter=a%3A%7C%28b+c%29",
  );
});

test.each<[unknown, boolean]>([
  [{ error: "no such VM x", data: { type: "VM", id: "x" } }, true],
  [{ data: { type: "VM", id: "y" } }, false],
  [{ data: { type: "host", id: "x" } }, false],
  [{ error: "not found" }, false],
  [null, false],
])("isMissing() is sure only if the server names the object: %p", (value, isSure) => {
  const reply = { status: 404, contentType: "application/json", json: { value } };
  expect(isMissing(reply, "VM", "x")).toBe(isSure);
});
