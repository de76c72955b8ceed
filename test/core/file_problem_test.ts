/**
 * Words for files that cannot be read.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describeFileProblem, toTriedPath } from "../../lib/core/file_problem.ts";

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    return describeFileProblem(error);
  }
}

describe("describeFileProblem()", () => {
  test("tells a file that is missing from a folder", () => {
    expect(read("/nowhere/file")).toBe("there is no such file");
    expect(read(join(import.meta.path, "below"))).toBe("there is no such file");
    expect(read(import.meta.dir)).toBe("it is a folder");
  });

  test.each([
    ["EACCES", "this process has no permission to read it"],
    ["EIO", "reading it failed (EIO)"],
  ])("says %s in words", (code, words) => {
    expect(describeFileProblem(Object.assign(new Error("x"), { code }))).toBe(words);
    expect(describeFileProblem(new Error("x"))).toBe("reading it failed");
  });
});

test.each([
  ["/etc/ca.pem", "/etc/ca.pem"],
  ["/etc/../ca.pem", "/etc/../ca.pem"],
  ["ca.pem", `${process.cwd()}/ca.pem`],
  ["../ca.pem", join(process.cwd(), "..", "ca.pem")],
  ["~/ca.pem", `${process.cwd()}/~/ca.pem`],
])("toTriedPath() of %s is %s", (path, tried) => {
  expect(toTriedPath(path)).toBe(tried);
});
