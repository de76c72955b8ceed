/**
 * Archives that are the same whenever their files are.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { chmod, mkdir, mkdtemp, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createArchive, readFolder } from "../../release/archive.ts";

const EPOCH = 1_700_000_000;
const LONG = `${"folder/".repeat(20)}${"n".repeat(90)}`;

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "landfall-archive-test-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

function list(archive: Buffer): string {
  const options = { input: archive, encoding: "utf8", env: { ...process.env, TZ: "UTC" } } as const;
  return execFileSync("tar", ["-tvzf", "-", "--full-time"], options);
}

describe("createArchive()", () => {
  test("createArchive() makes what tar reads: modes, owners, time, long paths and content", async () => {
    const files = [
      { path: "a/run.sh", content: Buffer.from("#!/bin/sh\n"), isExecutable: true },
      { path: LONG, content: Buffer.from("x".repeat(1_000)) },
      { path: "empty", content: Buffer.alloc(0) },
    ];
    const archive = createArchive(files, EPOCH);
    expect(list(archive).trimEnd().split("\n")).toEqual([
      "-rwxr-xr-x root/root        10 2023-11-14 22:13:20 a/run.sh",
      `-rw-r--r-- root/root      1000 2023-11-14 22:13:20 ${LONG}`,
      "-rw-r--r-- root/root         0 2023-11-14 22:13:20 empty",
    ]);
    const text = execFileSync("tar", ["-xOzf", "-", LONG], { input: archive, encoding: "utf8" });
    expect(text).toBe("x".repeat(1_000));
  });

  test("createArchive() has links and folders with their modes and owners", () => {
    const entries = [
      { path: "tmp/", mode: 0o1777 },
      { path: "home/", owner: 65_532, mode: 0o700 },
      { path: "lib.so", target: "/lib/real.so" },
    ];
    expect(list(createArchive(entries, EPOCH)).trimEnd().split("\n")).toEqual([
      "drwxrwxrwt root/root         0 2023-11-14 22:13:20 tmp/",
      "drwx------ 65532/65532       0 2023-11-14 22:13:20 home/",
      "lrwxrwxrwx root/root         0 2023-11-14 22:13:20 lib.so -> /lib/real.so",
    ]);
  });

  test("createArchive() keeps no time of its own and no system", () => {
    const archive = createArchive([{ path: "a", content: Buffer.from("a") }], EPOCH);
    expect([...archive.subarray(4, 8)]).toEqual([0, 0, 0, 0]);
    expect(archive[9]).toBe(255);
  });

  test.each(["n".repeat(101), `${"f".repeat(156)}/n`, `f/${"n".repeat(101)}`])(
    "createArchive() refuses a path that a header cannot hold: %s",
    (path) => {
      expect(() => createArchive([{ path, content: Buffer.alloc(0) }], EPOCH)).toThrow(RangeError);
    },
  );
});

describe("readFolder()", () => {
  test("readFolder() sorts by path, and knows what may be run", async () => {
    await mkdir(join(folder, "b"));
    for (const name of ["c", "b/z", "b/a", "a"]) await writeFile(join(folder, name), name);
    await chmod(join(folder, "a"), 0o755);
    await utimes(join(folder, "c"), 1, 1);
    const files = await readFolder(folder, "top");
    expect(files.map(({ path, isExecutable }) => [path, isExecutable])).toEqual([
      ["top/a", true],
      ["top/b/a", false],
      ["top/b/z", false],
      ["top/c", false],
    ]);
    expect(files[1]?.content.toString()).toBe("b/a");
  });
});
