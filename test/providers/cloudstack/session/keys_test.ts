/**
 * Keys as given, and keys in files that change.
 * @module
 */
import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigError } from "../../../../lib/core/errors.ts";
import { createLogger } from "../../../../lib/core/log.ts";
import { createFixedKeys, KeyFiles } from "../../../../lib/providers/cloudstack/session/keys.ts";
import { ManualClock } from "../../../support/manual_clock.ts";

const folder = mkdtempSync(join(tmpdir(), "keys-"));
const paths = { apiKeyFile: join(folder, "api-key"), secretKeyFile: join(folder, "secret-key") };
afterAll(() => rmSync(folder, { recursive: true }));

let clock: ManualClock;
let lines: string[];

function write(apiKey: string, secretKey: string): void {
  writeFileSync(paths.apiKeyFile, apiKey);
  writeFileSync(paths.secretKeyFile, secretKey);
}

function open(onChange: () => void = () => {}): KeyFiles {
  const log = createLogger({
    write: (line) => lines.push(line),
    level: "debug",
    format: "text",
    now: () => clock.now(),
  });
  return new KeyFiles(paths, { clock, log, onChange });
}

/** Reads after the files may be read again. */
async function readLater(keys: KeyFiles): Promise<string> {
  await clock.advance(1_000);
  const { apiKey, secretKey } = await keys.read();
  return `${apiKey}/${secretKey}`;
}

beforeEach(() => {
  clock = new ManualClock();
  lines = [];
  write("old-key\n", " old-secret\n");
});

describe("createFixedKeys()", () => {
  test("has no other pair", async () => {
    const pair = { apiKey: "a", secretKey: "b" };
    const keys = createFixedKeys(pair);
    expect(await keys.read()).toBe(pair);
    expect(await keys.refuse(pair)).toBe(false);
  });
});

describe("KeyFiles", () => {
  test("reads both, without the blanks around them", async () => {
    expect(await open().read()).toEqual({ apiKey: "old-key", secretKey: "old-secret" });
  });

  test("uses a new pair when both files have changed, within a second", async () => {
    const keys = open();
    write("new-key", "new-secret");
    expect(await keys.read()).toMatchObject({ apiKey: "old-key" });
    expect(await readLater(keys)).toBe("new-key/new-secret");
    expect(lines.join("\n")).toContain("The keys changed");
    expect(lines.join("\n")).not.toMatch(/(old|new)-(key|secret)/);
  });

  test("keeps the pair while only one file has changed, until the server refuses it", async () => {
    let changes = 0;
    const keys = open(() => (changes += 1));
    write("new-key", "old-secret");
    expect(await readLater(keys)).toBe("old-key/old-secret");
    expect(changes).toBe(0);
    const used = await keys.read();
    expect(await keys.refuse(used)).toBe(true);
    const mixed = await keys.read();
    expect(mixed).toEqual({ apiKey: "new-key", secretKey: "old-secret" });
    expect(await keys.refuse(mixed)).toBe(false);
    write("new-key", "new-secret");
    expect(await keys.refuse(mixed)).toBe(true);
    expect(await keys.read()).toEqual({ apiKey: "new-key", secretKey: "new-secret" });
    expect(changes).toBe(2);
  });

  test("a pair that was refused is read again at once", async () => {
    const keys = open();
    const used = await keys.read();
    expect(await keys.refuse(used)).toBe(false);
    write("new-key", "new-secret");
    expect(await keys.refuse(used)).toBe(true);
    expect(await keys.refuse(used)).toBe(true);
  });

  test("the refusal of an older pair says nothing about the pair in use", async () => {
    const keys = open();
    const used = await keys.read();
    write("new-key", "new-secret");
    await readLater(keys);
    expect(await keys.refuse(used)).toBe(true);
    expect(await keys.read()).toMatchObject({ apiKey: "new-key" });
  });

  test("keeps the last pair while a file is away, and warns after a minute, once", async () => {
    const keys = open();
    unlinkSync(paths.secretKeyFile);
    expect(await readLater(keys)).toBe("old-key/old-secret");
    expect(lines).toEqual([]);
    await clock.advance(60_000);
    await readLater(keys);
    await readLater(keys);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain("there is no such file");
    write("new-key", "new-secret");
    expect(await readLater(keys)).toBe("new-key/new-secret");
  });

  test("warns at once of a file that holds no key, without its content", async () => {
    const keys = open();
    write("new key", "new-secret");
    expect(await readLater(keys)).toBe("old-key/old-secret");
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain("holds a blank");
    expect(lines[0]).not.toContain("new key");
  });

  test("refuses to begin without two keys, with the problems of both", () => {
    writeFileSync(paths.apiKeyFile, " \n");
    unlinkSync(paths.secretKeyFile);
    const problem = toProblem(() => open());
    expect(problem.issues.map(({ path }) => path)).toEqual(["apiKeyFile", "secretKeyFile"]);
    expect(problem.message).toContain(`${paths.apiKeyFile}: is blank`);
    expect(problem.message).toContain("there is no such file");
  });

  test("does not repeat a key that stands where the path should be", () => {
    const key = "plgWJfZK4gyS3mOMTVmjUVgXjlWlnfaUJ9GAbBbf9EdM";
    const wrong = { ...paths, secretKeyFile: key };
    const log = createLogger({
      write: (line) => lines.push(line),
      level: "debug",
      format: "text",
      now: () => clock.now(),
    });
    const problem = toProblem(() => new KeyFiles(wrong, { clock, log }));
    expect(problem.message).not.toContain(key);
  });
});

function toProblem(act: () => unknown): ConfigError {
  try {
    act();
  } catch (error) {
    if (error instanceof ConfigError) return error;
  }
  throw new Error("wanted a ConfigError");
}
