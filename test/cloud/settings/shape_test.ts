/**
 * What a file says against a schema, with the path of every problem.
 * @module
 */
import { describe, expect, test } from "bun:test";
import * as v from "valibot";
import { dropEmpty, parseShape } from "../../../lib/cloud/settings/shape.ts";

const SCHEMA = v.object({
  url: v.optional(v.string("wanted text")),
  block: v.optional(v.object({ on: v.optional(v.boolean("wanted true or false")) })),
});

describe("parseShape()", () => {
  test("a list in the place of a block is a problem, although it has no wrong key", () => {
    const { settings, issues } = parseShape(SCHEMA, { block: [] }, ["block"]);
    expect(settings).toBeUndefined();
    expect(issues.map(({ path }) => path)).toEqual(["block"]);
  });
});

describe("dropEmpty()", () => {
  test("drops empty keys at the levels that it is given, and no list item", () => {
    const raw = { a: "", b: null, c: 0, d: { e: "", f: [""], g: { h: "" } } };
    expect(dropEmpty(raw, 1)).toEqual({ c: 0, d: { f: [""], g: { h: "" } } });
    expect(dropEmpty([null], 1)).toEqual([null]);
    expect(dropEmpty("text", 1)).toBe("text");
  });

  test("is done with an object that contains itself", () => {
    const raw: Record<string, unknown> = {};
    raw["self"] = raw;
    expect(dropEmpty(raw, 1)).toHaveProperty("self.self");
  });
});
