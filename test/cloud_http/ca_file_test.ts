/**
 * A file of authorities that is replaced, broken or away.
 * @module
 */
import { beforeEach, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { createLogger, silentLogger } from "../../lib/core/log.ts";
import { CaFile } from "../../lib/cloud_http/ca_file.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { SecretMount } from "../support/process/secret_mount.ts";
import { readTls } from "../support/net/tls_fixtures.ts";

const [old, next] = [readTls("ca.crt").trim(), readTls("other_ca.crt").trim()];
const BROKEN = old.replace(/\n..../, "\nAAAA");

let clock: ManualClock;
let lines: string[];
beforeEach(() => {
  clock = new ManualClock();
  lines = [];
});

function open(mount: SecretMount): CaFile {
  const write = (line: string): number => lines.push(line);
  const log = createLogger({ format: "json", now: () => 0, write });
  return new CaFile(mount.path("ca.pem"), { clock, log, setting: "ca-file" });
}

describe("CaFile", () => {
  test.each([
    ["is empty", "", "contains no certificate"],
    ["holds a broken certificate", BROKEN, "certificate 1 of 1 cannot be decoded"],
    ["holds a broken one behind a good one", `${next}\n${BROKEN}`, "certificate 2 of 2"],
  ])("refuses a file that %s", (_title, text, message) => {
    using mount = new SecretMount({ "ca.pem": text });
    expect(() => open(mount)).toThrow(`ca-file: ${mount.path("ca.pem")}: ${message}`);
  });

  test("refuses a file that is not there, or is none", () => {
    const deps = { clock, log: silentLogger, setting: "ca-file" };
    expect(() => new CaFile("/nowhere", deps)).toThrow(
      "/nowhere: cannot be read: there is no such",
    );
    expect(() => new CaFile("ca/nowhere.pem", deps)).toThrow(
      `ca-file: ${process.cwd()}/ca/nowhere.pem: cannot be read: there is no such`,
    );
    expect(() => new CaFile("/", deps)).toThrow("ca-file: /: cannot be read: it is a folder");
  });

  test("read() gives the certificates alone, and follows a change within a minute", async () => {
    using mount = new SecretMount({ "ca.pem": `a comment\n${old}\n` });
    const file = open(mount);
    expect(await file.read()).toBe(old);
    mount.update({ "ca.pem": `${next}\n${old}` });
    await clock.advance(29_999);
    expect(await file.read()).toBe(old);
    await clock.advance(30_000);
    expect(await file.read()).toBe(`${next}\n${old}`);
    expect(lines).toHaveLength(1);
  });

  test.each([
    ["is broken", BROKEN, "certificate 1 of 1 cannot be decoded"],
    ["holds something else", "canary", "contains no certificate"],
    ["is away", undefined, "there is no such file"],
  ])(
    "reload() keeps the last good one while the file %s, and says so once",
    async (_t, text, problem) => {
      using mount = new SecretMount({ "ca.pem": old });
      const file = open(mount);
      if (text === undefined) rmSync(mount.path("ca.pem"));
      else mount.update({ "ca.pem": text });
      await file.reload();
      await file.reload();
      expect(await file.read()).toBe(old);
      expect(lines).toHaveLength(1);
      const [line = ""] = lines;
      expect(line).toContain("warn");
      expect(line).toContain("Cannot use the changed ca-file; still using the last good one");
      expect(line).toContain(mount.path("ca.pem"));
      expect(line).toContain(problem);
      expect(line).not.toContain("canary");
    },
  );

  test("reload() takes the file again once it is good", async () => {
    using mount = new SecretMount({ "ca.pem": old });
    const file = open(mount);
    mount.update({ "ca.pem": "" });
    await file.reload();
    mount.update({ "ca.pem": next });
    await file.reload();
    expect(await file.read()).toBe(next);
    mount.update({ "ca.pem": "" });
    await file.reload();
    expect(lines.filter((line) => line.includes("warn"))).toHaveLength(2);
  });
});
