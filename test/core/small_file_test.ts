/**
 * Files that may be anything.
 * @module
 */
import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  describeFileProblem,
  readSmallFile,
  readSmallText,
  readSmallTextSync,
  toTriedPath,
} from "../../lib/core/small_file.ts";
import { makePipe } from "../support/net/hostile.ts";

const MIB = 1024 * 1024;
const folder = mkdtempSync(join(tmpdir(), "landfall-files-"));
afterAll(() => rmSync(folder, { recursive: true }));

function make(name: string, create: (path: string) => void): string {
  const path = join(folder, name);
  create(path);
  return path;
}

const UNFIT: readonly [string, string, string][] = [
  ["a pipe without a writer", make("pipe", makePipe), "not a file"],
  ["a device without an end", "/dev/zero", "it is not a file"],
  ["a device that is empty", "/dev/null", "it is not a file"],
  ["a folder", folder, "it is a folder"],
  [
    "a file that is too large",
    make("large", (at) => writeFileSync(at, "x".repeat(MIB + 1))),
    "1 MiB",
  ],
  ["links in a circle", make("circle", (path) => symlinkSync(path, path)), "form a circle"],
  ["a path with a zero byte", "a\0b", "zero byte"],
  ["no file", join(folder, "absent"), "there is no such file"],
];

describe("readSmallFile()", () => {
  test.each(UNFIT)("readSmallFile() and its like refuse %s", async (_what, path, problem) => {
    for (const read of [readSmallFile, async (at: string) => readSmallTextSync(at)]) {
      const error: unknown = await read(path).catch((thrown: unknown) => thrown);
      expect(describeFileProblem(error)).toContain(problem);
    }
  });

  test("readSmallFile() refuses a socket", async () => {
    const path = join(folder, "socket");
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(path, resolve));
    const error: unknown = await readSmallFile(path).catch((thrown: unknown) => thrown);
    server.close();
    expect(describeFileProblem(error)).toBe("it is not a file");
  });

  test("readSmallFile() reads every byte of the largest file", async () => {
    const path = make("full", (at) => writeFileSync(at, `é${"x".repeat(MIB - 2)}`));
    expect(await readSmallFile(path)).toHaveLength(MIB);
    expect(await readSmallText(path)).toBe(readSmallTextSync(path));
    expect(readSmallTextSync(path)).toHaveLength(MIB - 1);
  });

  test("readSmallFile() reads a file that tells no size", async () => {
    expect(await readSmallText("/proc/self/status")).toContain("VmRSS");
    expect(readSmallTextSync("/proc/self/status")).toContain("VmRSS");
  });

  test("readSmallFile() gives up on a file that tells no size and hardly ends", async () => {
    // Eight bytes for each page that the process could have.
    const error: unknown = await readSmallFile("/proc/self/pagemap").catch(
      (thrown: unknown) => thrown,
    );
    expect(describeFileProblem(error)).toBe("it is larger than 1 MiB");
  });
});

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
