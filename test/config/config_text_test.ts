/**
 * Files that may not be settings: what cannot be read is named with the reason, and never repeated.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { readConfigText } from "../../lib/config/config_text.ts";
import { SecretMount } from "../support/process/secret_mount.ts";

describe("readConfigText()", () => {
  test("reads a file as it is, a byte order mark included", async () => {
    using mount = new SecretMount({ "config.yaml": "\uFEFFurl: ü" });
    expect(await readConfigText(mount.path("config.yaml"))).toBe("\uFEFFurl: ü");
  });
});

test("readConfigText() names the whole path that it tried, where only a part of it was given", async () => {
  const path = "nowhere/config.yaml";
  await expect(readConfigText(path)).rejects.toThrow(
    `${path}: Cannot read the file: ${join(process.cwd(), path)}: there is no such file`,
  );
});
