import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readDescriptorLimit, toConnectionsMax } from "../../lib/host/descriptors.ts";

describe("readDescriptorLimit()", () => {
  let folder = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "landfall-descriptors-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test("reads the soft limit on open files, and no other", async () => {
    const path = join(folder, "limits");
    const lines = [
      "Limit                     Soft Limit           Hard Limit           Units     ",
      "Max processes             96189                96189                processes ",
      "Max open files            64                   4096                 files     ",
      "Max locked memory         8388608              8388608              bytes     ",
    ];
    await writeFile(path, `${lines.join("\n")}\n`);
    expect(readDescriptorLimit(path)).toBe(64);
  });

  test("knows none when there is no limit, or nothing to read", async () => {
    const path = join(folder, "unlimited");
    await writeFile(
      path,
      "Max open files            unlimited            unlimited            files\n",
    );
    expect(readDescriptorLimit(path)).toBeUndefined();
    expect(readDescriptorLimit(join(folder, "missing"))).toBeUndefined();
  });

  test.skipIf(process.platform !== "linux")("reads that of this process", () => {
    expect(readDescriptorLimit()).toBeGreaterThan(3);
  });
});

describe("toConnectionsMax()", () => {
  test.each([
    [1_048_576, 524_260],
    [1_024, 484],
    [64, 4],
    [16, 2],
  ])("gives each listener its share of %d descriptors: %d", (limit, connections) => {
    expect(toConnectionsMax(limit)).toBe(connections);
  });
});
