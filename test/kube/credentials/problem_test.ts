/**
 * Sentences about settings that cannot be used.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import {
  isMissingFile,
  readNamedFile,
  toConfigError,
} from "../../../lib/kube/credentials/problem.ts";

function failWith(code: string): () => Promise<string> {
  return () => Promise.reject(Object.assign(new Error("reading it failed (EIO)"), { code }));
}

describe("toConfigError()", () => {
  test("has one issue with file and field", () => {
    const error = toConfigError({ source: "/f", path: "a.b" }, "is wrong");
    expect(error.issues).toEqual([{ source: "/f", path: "a.b", message: "is wrong" }]);
    expect(error.message).toBe("/f: a.b: is wrong");
  });
});

describe("readNamedFile()", () => {
  test.each([
    ["ENOENT", '/f: a: cannot read the file "/x": there is no such file'],
    ["EACCES", '/f: a: cannot read the file "/x": this process has no permission to read it'],
    ["EIO", '/f: a: cannot read the file "/x": reading it failed (EIO)'],
  ])("explains %s", async (code, message) => {
    const reading = readNamedFile(failWith(code), "/x", { source: "/f", path: "a" });
    await expect(reading).rejects.toThrow(message);
  });

  test("names the whole path that was tried", async () => {
    const tried = join(process.cwd(), "x");
    for (const place of [{ source: "x" }, { source: "/f", path: "a" }]) {
      await expect(readNamedFile(failWith("ENOENT"), "x", place)).rejects.toThrow(
        `file "${tried}": `,
      );
    }
  });

  test("names the file once when it is the source itself", async () => {
    const reading = readNamedFile(failWith("ENOENT"), "/x", { source: "/x" });
    await expect(reading).rejects.toThrow(/^\/x: cannot read the file: there is no such file$/);
  });
});

describe("isMissingFile()", () => {
  test("tells a missing file from other failures", async () => {
    const errors = await Promise.all(
      ["ENOENT", "EACCES"].map((code) => failWith(code)().catch((e: unknown) => e)),
    );
    expect([...errors, undefined].map(isMissingFile)).toEqual([true, false, false]);
  });
});
