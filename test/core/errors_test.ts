/**
 * Errors that more than one layer knows.
 * @module
 */
import { describe, expect, test } from "bun:test";
import {
  assert,
  AssertionError,
  ConfigError,
  type ConfigIssue,
  describeError,
  formatConfigIssue,
} from "../../lib/core/errors.ts";

describe("formatConfigIssue()", () => {
  const CASES: [ConfigIssue, string][] = [
    [{ message: "is wrong" }, "is wrong"],
    [{ message: "is wrong", source: "/f" }, "/f: is wrong"],
    [{ message: "is wrong", source: "/f", path: "a.0" }, "/f: a.0: is wrong"],
    [{ message: "is wrong", source: "/f", line: 3, column: 7 }, "/f:3:7: is wrong"],
    [{ message: "is wrong", path: "a" }, "a: is wrong"],
    [{ message: "is odd", source: "/f", path: "a", isWarning: true }, "/f: warning: a: is odd"],
  ];
  test.each(CASES)("leaves out what is not known, case %#", (issue, expected) => {
    expect(formatConfigIssue(issue)).toBe(expected);
  });
});

describe("ConfigError", () => {
  test("shows all issues, one a line, and keeps them", () => {
    const issues = [{ message: "one" }, { message: "two", source: "/f" }];
    const error = new ConfigError(issues);
    expect(error).toMatchObject({ name: "ConfigError", message: "one\n/f: two", issues });
  });
});

describe("describeError()", () => {
  const loop = new Error("round");
  loop.cause = new Error("and round", { cause: loop });
  const CASES: [string, unknown, string][] = [
    ["one error", new Error("a"), "a"],
    ["causes, outermost first", new Error("a", { cause: new Error("b") }), "a: b"],
    ["a cause that is no error", new Error("a", { cause: "b" }), "a: b"],
    [
      "a cause whose words were said",
      new Error("a because b", { cause: new Error("b") }),
      "a because b",
    ],
    ["an error without words by its name", new RangeError(), "RangeError"],
    [
      "no advice of the runtime on how to call it",
      new Error("Cannot read", {
        cause: new Error(
          "The socket connection was closed unexpectedly. " +
            "For more information, pass `verbose: true` in the second argument to fetch()",
        ),
      }),
      "Cannot read: The socket connection was closed unexpectedly",
    ],
    ["a text", "gone", "gone"],
    ["nothing", undefined, ""],
    ["null", null, "null"],
    ["causes in a circle", loop, "round: and round"],
  ];
  test.each(CASES)("shows %s", (_title, error, expected) => {
    expect(describeError(error)).toBe(expected);
  });

  test("ends with a chain of causes that does not", () => {
    const chain = Array.from({ length: 50 }).reduce<Error | undefined>(
      (cause, _one, at) => new Error(`<${at}>`, { cause }),
      undefined,
    );
    expect(describeError(chain).split(": ")).toHaveLength(8);
  });
});

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
