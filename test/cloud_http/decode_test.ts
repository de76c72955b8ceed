/**
 * Reading the objects of a list, each by itself.
 * @module
 */
import { describe, expect, test } from "bun:test";
import * as v from "valibot";
import { decode, decodeList, findNameless } from "../../lib/cloud_http/decode.ts";
import { parseUuid } from "../../lib/core/text/values.ts";

const ID_A = "aaaaaaaa-1111-4111-8111-aaaaaaaaaaaa";
const ID_B = "bbbbbbbb-1111-4111-8111-bbbbbbbbbbbb";
const ID_C = "cccccccc-1111-4111-8111-cccccccccccc";

const MACHINE = v.object({
  id: v.pipe(
    v.string(),
    v.nonEmpty(),
    v.transform((text) => text.toLowerCase()),
    v.check((text) => parseUuid(text) === text, "a UUID"),
  ),
  name: v.nullish(v.string()),
  tags: v.nullish(v.array(v.string())),
  addresses: v.nullish(v.record(v.string(), v.string())),
});

describe("decode()", () => {
  test("drops fields that the schema does not name", () => {
    expect(decode(MACHINE, { id: ID_A.toUpperCase(), name: null, more: 1 })).toEqual({
      value: { id: ID_A, name: null },
    });
  });

  test.each([
    ["text", "a", "the object itself: must be Object"],
    ["a field of another type", { id: ID_A, tags: [1] }, "tags.0: must be string"],
    ["half an ID", { id: ID_A.slice(1) }, "id: must be a UUID"],
  ])("says what is wrong with %s, without its value", (_title, body, problem) => {
    expect(decode(MACHINE, body)).toEqual({ problem });
  });
});

describe("decodeList()", () => {
  test("sets apart what cannot be read, by id, href or place", () => {
    const { objects, undecodable } = decodeList(MACHINE, [
      { id: ID_C },
      { id: ID_A.toUpperCase(), name: 1 },
      { href: `/machines/${ID_B}` },
      null,
      { id: "" },
      { id: ID_B.slice(1) },
    ]);
    expect(objects).toEqual([{ id: ID_C }]);
    expect([...undecodable.keys()]).toEqual([ID_A, ID_B, "#3", "#4", "#5"]);
    expect(findNameless(undecodable)).toBe("the object itself: must be Object");
    expect(undecodable.get("#5")).toBe("id: must be a UUID");
    expect(findNameless(new Map([[ID_A, "x"]]))).toBeUndefined();
  });

  test("believes none of those that are listed twice, unless they say the same", () => {
    const machine = { id: ID_A, name: "a", tags: ["a"] };
    for (const others of [
      [{ ...machine, name: "b" }],
      [machine, { ...machine, tags: [] }, machine],
      [{ ...machine, id: ID_A.toUpperCase(), name: "x" }],
      [{ ...machine, tags: 1 }],
    ]) {
      const { objects, undecodable } = decodeList(MACHINE, [machine, ...others]);
      expect([objects.length, [...undecodable.keys()]]).toEqual([0, [ID_A]]);
    }
    const { objects, undecodable } = decodeList(MACHINE, [machine, { ...machine, more: 1 }]);
    expect([objects, undecodable.size]).toEqual([[machine], 0]);
  });

  test("keeps what is wrong short, even with long keys", () => {
    const addresses = { ["x".repeat(10_000)]: 1 };
    const { undecodable } = decodeList(MACHINE, [{ id: ID_A, addresses }]);
    expect(undecodable.get(ID_A)?.length).toBeLessThan(150);
  });
});
