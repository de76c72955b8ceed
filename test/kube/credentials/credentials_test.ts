/**
 * How often a source of credentials is read, and what outlives its failures.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { createLogger, silentLogger } from "../../../lib/core/log.ts";
import {
  actAs,
  type Credential,
  type Credentials,
  type LoadedCredential,
  RefreshingCredentials,
} from "../../../lib/kube/credentials/credentials.ts";
import { ManualClock } from "../../support/manual_clock.ts";

const signal = new AbortController().signal;

interface Source {
  credentials: Credentials;
  clock: ManualClock;
  /** The `fresh` of each reading. */
  loads: boolean[];
  answer: () => Promise<LoadedCredential>;
}

function createSource(log = silentLogger): Source {
  const clock = new ManualClock();
  const loads: boolean[] = [];
  const source: Source = {
    clock,
    loads,
    answer: () => Promise.resolve({ headers: { n: String(loads.length) }, tls: {} }),
    credentials: new RefreshingCredentials({
      server: "https://a",
      clock,
      log,
      load: (fresh) => {
        loads.push(fresh);
        return source.answer();
      },
    }),
  };
  return source;
}

describe("RefreshingCredentials", () => {
  test("reads once for many callers at once", async () => {
    const { credentials, loads } = createSource();
    await Promise.all(Array.from({ length: 5 }, () => credentials.current(signal)));
    expect(loads).toEqual([false]);
  });

  test("reads afresh after invalidate(), once for all requests that failed with one credential", async () => {
    const { credentials, loads } = createSource();
    const used = await credentials.current(signal);
    credentials.invalidate(used);
    await credentials.current(signal);
    credentials.invalidate(used);
    await credentials.current(signal);
    expect(loads).toEqual([false, true]);
  });

  test("reads again when a credential ends", async () => {
    const source = createSource();
    const { credentials, clock, loads } = source;
    const expiresAtMs = clock.now() + 5000;
    source.answer = () => Promise.resolve({ headers: {}, tls: {}, expiresAtMs });
    await credentials.current(signal);
    await clock.advance(4999);
    await credentials.current(signal);
    expect(loads).toHaveLength(1);
    await clock.advance(1);
    await credentials.current(signal);
    expect(loads).toHaveLength(2);
  });

  test("goes on with the last good credential when a reading fails, and says so", async () => {
    const lines: string[] = [];
    const write = (line: string): number => lines.push(line);
    const source = createSource(createLogger({ format: "text", now: () => 0, write }));
    const { credentials, clock, loads } = source;
    const good = await credentials.current(signal);
    source.answer = () => Promise.reject(new Error("half written"));
    await clock.advance(30_000);
    expect(await credentials.current(signal)).toBe(good);
    expect(lines.join("")).toContain("half written");
    await clock.advance(9999);
    await credentials.current(signal);
    expect(loads).toHaveLength(2);
    await clock.advance(1);
    await credentials.current(signal);
    expect(loads).toHaveLength(3);
  });

  test("says what is wrong once in ten minutes, and again when it is something else", async () => {
    const lines: string[] = [];
    const write = (line: string): number => lines.push(line);
    const source = createSource(createLogger({ format: "text", now: () => 0, write }));
    const { credentials, clock } = source;
    const readFor = async (ms: number): Promise<number> => {
      for (let passed = 0; passed < ms; passed += 10_000) {
        await clock.advance(10_000);
        await credentials.current(signal);
      }
      return lines.length;
    };
    await credentials.current(signal);
    source.answer = () => Promise.reject(new Error("half written"));
    expect(await readFor(600_000)).toBe(1);
    expect(await readFor(60_000)).toBe(2);
    source.answer = () => Promise.reject(new Error("gone"));
    expect(await readFor(60_000)).toBe(3);
  });

  test("fails when the last good credential has ended and a reading fails", async () => {
    const source = createSource();
    const { credentials, clock } = source;
    const expiresAtMs = clock.now() + 5000;
    source.answer = () => Promise.resolve({ headers: {}, tls: {}, expiresAtMs });
    await credentials.current(signal);
    await clock.advance(5000);
    source.answer = () => Promise.reject(new Error("no answer"));
    await expect(credentials.current(signal)).rejects.toThrow("no answer");
  });

  test("raises the version when tls or proxy change, not for headers", async () => {
    const source = createSource();
    const { credentials, clock } = source;
    const versions: number[] = [];
    const answers: LoadedCredential[] = [
      { headers: { a: "1" }, tls: {} },
      { headers: { a: "2" }, tls: {} },
      { headers: {}, tls: { serverName: "x" } },
      { headers: {}, tls: { serverName: "x" }, proxy: "http://p" },
    ];
    for (const answer of answers) {
      source.answer = () => Promise.resolve(answer);
      versions.push((await credentials.current(signal)).version);
      await clock.advance(30_000);
    }
    expect(versions).toEqual([1, 1, 2, 3]);
  });

  test("lets a caller stop waiting while the reading goes on for others", async () => {
    const source = createSource();
    const held = Promise.withResolvers<LoadedCredential>();
    source.answer = () => held.promise;
    const leaving = new AbortController();
    const left = source.credentials.current(leaving.signal);
    const stayed = source.credentials.current(signal);
    leaving.abort(new Error("stop"));
    await expect(left).rejects.toThrow("stop");
    held.resolve({ headers: { a: "1" }, tls: {} });
    expect((await stayed).headers).toEqual({ a: "1" });
  });
});

test("actAs() adds the headers, in place of those of another user, and passes on what was refused", async () => {
  const first: Credential = {
    headers: {
      authorization: "Bearer t",
      "impersonate-user": "old",
      "impersonate-group": ["old", "older"],
    },
    tls: {},
    version: 1,
  };
  let own = first;
  const refused: Credential[] = [];
  const credentials = actAs(
    {
      server: "https://a",
      current: () => Promise.resolve(own),
      invalidate: (used) => refused.push(used),
    },
    { user: "jane" },
    (field) => ({ source: `--${field}` }),
  );
  const shown = await credentials.current(signal);
  expect(shown).toEqual({
    tls: {},
    version: 1,
    headers: { authorization: "Bearer t", "impersonate-user": "jane" },
  });
  expect(await credentials.current(signal)).toBe(shown);
  credentials.invalidate(first);
  expect(refused).toEqual([]);
  credentials.invalidate(shown);
  expect(refused).toEqual([first]);
  own = { ...first, version: 2 };
  expect((await credentials.current(signal)).version).toBe(2);
});

test("actAs() names the field that no header can hold", () => {
  const { credentials } = createSource();
  const place = (field: string): { source: string } => ({ source: `--${field}` });
  expect(() => actAs(credentials, { user: "" }, place)).toThrow("--user: must be printable ASCII");
});
