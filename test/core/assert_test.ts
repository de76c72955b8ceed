/**
 * Broken invariants.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { assert, AssertionError } from "../../lib/core/assert.ts";

describe("assert()", () => {
  test("does nothing while the condition holds", () => {
    expect(() => assert(true, "Cannot happen")).not.toThrow();
  });

  test("throws an AssertionError with the message when it does not", () => {
    let caught: unknown;
    try {
      assert(false, 'Cannot close "x": it is open');
    } catch (error) {
      caught = error;
    }
    expect(caught).toBeInstanceOf(AssertionError);
    expect(caught).toMatchObject({
      name: "AssertionError",
      message: 'Cannot close "x": it is open',
    });
  });
});
