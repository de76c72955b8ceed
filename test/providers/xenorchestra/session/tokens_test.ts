/**
 * Life of a token: minted once, renewed in time, never tried too fast.
 * @module
 */
import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CloudError } from "../../../../lib/cloud/errors.ts";
import { createLogger, silentLogger } from "../../../../lib/core/log.ts";
import {
  createFixedToken,
  FileToken,
  MintedToken,
  type Minted,
} from "../../../../lib/providers/xenorchestra/session/tokens.ts";
import { ManualClock } from "../../../support/manual_clock.ts";

const signal = new AbortController().signal;
let clock: ManualClock;
beforeEach(() => {
  clock = new ManualClock();
});

describe("createFixedToken()", () => {
  test("has no other token to offer", async () => {
    const source = createFixedToken("t");
    expect(await source.read(signal)).toBe("t");
    expect(await source.refuse("t")).toBe(false);
  });
});

describe("FileToken", () => {
  const folder = mkdtempSync(join(tmpdir(), "landfall-"));
  const path = join(folder, "token");
  afterAll(() => rmSync(folder, { recursive: true }));

  test("keeps the last token while the file is away or empty", async () => {
    writeFileSync(path, " one \n");
    const source = new FileToken(path, { clock, log: silentLogger });
    rmSync(path);
    expect(await source.refuse("one")).toBe(false);
    await clock.advance(1_000);
    expect(await source.read()).toBe("one");
    writeFileSync(path, "\n");
    expect(await source.refuse("one")).toBe(false);
    writeFileSync(path, "two");
    expect(await source.refuse("one")).toBe(true);
    expect(await source.read()).toBe("two");
  });

  test("looks at the file once a second at most", async () => {
    writeFileSync(path, "one");
    const source = new FileToken(path, { clock, log: silentLogger });
    writeFileSync(path, "two");
    await clock.advance(999);
    expect(await source.read()).toBe("one");
    await clock.advance(1);
    expect(await source.read()).toBe("two");
    writeFileSync(path, "three");
    expect(await source.read()).toBe("two");
  });

  test.each([
    ["\n", "is empty"],
    ["canary token", "holds a blank"],
    ["canary\ncanary", "holds a blank, a line break"],
  ])("refuses a file of %j at the start, without showing it", (text, problem) => {
    writeFileSync(path, text);
    const make = () => new FileToken(path, { clock, log: silentLogger });
    expect(make).toThrow(`${path}: ${problem}`);
    expect(make).not.toThrow("canary");
  });

  test.each<[string, string, () => void]>([
    ["away", "cannot be read: there is no such file", () => rmSync(path)],
    ["empty", "is empty", () => writeFileSync(path, "\n")],
  ])(
    "says once that the file is %s, but not while it is replaced",
    async (_what, problem, lose) => {
      const lines: string[] = [];
      const write = (line: string): number => lines.push(line);
      writeFileSync(path, "one");
      const log = createLogger({ format: "text", write, now: () => 0 });
      const source = new FileToken(path, { clock, log });
      const readFor = async (seconds: number): Promise<void> => {
        for (let second = 0; second < seconds; second += 10) {
          await clock.advance(10_000);
          expect(await source.read()).toBe("one");
        }
      };
      lose();
      await readFor(50);
      writeFileSync(path, "one");
      await readFor(10);
      lose();
      await readFor(60);
      expect(lines).toEqual([]);
      await readFor(300);
      expect(lines).toEqual([expect.stringContaining(problem)]);
    },
  );

  test("keeps the last token while the file holds none, and says so once", async () => {
    const lines: string[] = [];
    const write = (line: string): number => lines.push(line);
    writeFileSync(path, "one");
    const log = createLogger({ format: "json", now: () => 0, write });
    const source = new FileToken(path, { clock, log });
    writeFileSync(path, "<html> canary </html>");
    expect(await source.refuse("one")).toBe(false);
    expect(await source.refuse("one")).toBe(false);
    expect(await source.read()).toBe("one");
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(path);
    expect(lines[0]).not.toContain("canary");
    writeFileSync(path, "two");
    expect(await source.refuse("one")).toBe(true);
  });
});

describe("MintedToken", () => {
  let tries: number;
  let next: () => Promise<Minted>;
  let source: MintedToken;

  beforeEach(() => {
    tries = 0;
    next = () => Promise.resolve({ token: `t${tries}`, expiresAtMs: clock.now() + 3_600_000 });
    const mint = (): Promise<Minted> => {
      tries += 1;
      return next();
    };
    source = new MintedToken({ mint, clock, log: silentLogger });
  });

  test("read() renews at two thirds of the life, and lives with a failure until the end", async () => {
    await source.read(signal);
    await clock.advance(2_399_000);
    await source.read(signal);
    expect(tries).toBe(1);
    next = () => Promise.reject(new CloudError("unreachable", "down"));
    await clock.advance(1_000);
    expect(await source.read(signal)).toBe("t1");
    expect(tries).toBe(2);
    await clock.advance(100);
    expect(await source.read(signal)).toBe("t1");
    expect(tries).toBe(2);
    await clock.advance(1_200_000);
    await expect(source.read(signal)).rejects.toMatchObject({ kind: "unreachable" });
  });

  test("read() does not mint again at once when the clocks differ", async () => {
    next = () => Promise.resolve({ token: "t", expiresAtMs: clock.now() + 1_000 });
    await source.read(signal);
    await clock.advance(2_400);
    await expect(source.read(signal)).rejects.toMatchObject({ kind: "denied" });
    expect(tries).toBe(1);
    await clock.advance(200);
    expect(await source.read(signal)).toBe("t");
    expect(tries).toBe(2);
  });

  test("read() uses a token that had ended when it was given: a clock is wrong, not the token", async () => {
    next = () => Promise.resolve({ token: "t", expiresAtMs: clock.now() - 86_400_000 });
    for (let times = 0; times < 3; times += 1) {
      expect(await source.read(signal)).toBe("t");
      await clock.advance(3_600_000);
    }
    expect(tries).toBe(1);
  });

  test("read() waits longer after each failure", async () => {
    next = () => Promise.reject(new CloudError("denied", "wrong password"));
    for (let at = 0; at < 60; at += 1) {
      await source.read(signal).catch(() => {});
      await clock.advance(1_000);
    }
    expect(tries).toBeWithin(4, 6);
  });

  test("read() gives up for one who asks, not for the others", async () => {
    const { promise, resolve } = Promise.withResolvers<Minted>();
    next = () => promise;
    const stop = new AbortController();
    const first = source.read(stop.signal);
    const second = source.read(signal);
    stop.abort(new Error("stop"));
    await expect(first).rejects.toThrow("stop");
    resolve({ token: "t" });
    expect(await second).toBe("t");
  });

  test("refuse() leads to a new token, but not at once", async () => {
    await source.read(signal);
    expect(await source.refuse("t1")).toBe(false);
    await expect(source.read(signal)).rejects.toThrow("refuses the token that it just issued");
    await clock.advance(2_500);
    expect(await source.read(signal)).toBe("t2");
    expect(await source.refuse("t1")).toBe(true);
  });
});
