import { describe, expect, test } from "bun:test";
import {
  createLogger,
  type Logger,
  type LoggerOptions,
  MessageDedup,
  silentLogger,
} from "../../lib/core/log.ts";
import { ManualClock } from "../support/manual_clock.ts";

function createLog(options: Partial<LoggerOptions> = {}): { log: Logger; lines: string[] } {
  const lines: string[] = [];
  const write = (line: string): number => lines.push(line);
  const now = (): number => Date.UTC(2026, 0, 2, 3, 4, 5, 6);
  return { log: createLogger({ format: "text", write, now, ...options }), lines };
}

describe("createLogger()", () => {
  test("writes one JSON object a line", () => {
    const { log, lines } = createLog({ format: "json" });
    log.info("node initialised", { node: "a", n: 1, gone: undefined });
    expect(lines).toEqual([
      '{"time":"2026-01-02T03:04:05.006Z","level":"info","message":"node initialised","node":"a","n":1}\n',
    ]);
  });

  test("writes text with fields, quoting what is no plain word", () => {
    const { log, lines } = createLog();
    log.warn("look", { a: "plain-word", b: "two words", c: 1, d: ["x"], e: "line\nbreak" });
    expect(lines).toEqual([
      '2026-01-02T03:04:05.006Z WARN  look a=plain-word b="two words" c=1 d=["x"] e="line\\nbreak"\n',
    ]);
  });

  test.each(["token", "password", "clientSecret", "Authorization", "set-cookie", "privateKey"])(
    "P-06 hides the field %s, wherever it stands",
    (name) => {
      for (const format of ["json", "text"] as const) {
        const { log, lines } = createLog({ format });
        log.info("m", { [name]: "geheim", deep: { list: [{ [name]: "geheim" }] } });
        log.with({ [name]: "geheim" }).info("m");
        expect(lines.join("")).not.toContain("geheim");
        expect(lines.join("").match(/redacted/g)).toHaveLength(3);
      }
    },
  );

  test("shows errors with their causes, and big integers", () => {
    const { log, lines } = createLog();
    log.error("m", { error: new Error("a", { cause: new Error("b") }), size: 2n ** 60n });
    expect(lines[0]).toEndWith(' ERROR m error="a: b" size=1152921504606846976\n');
  });

  test.each([
    [undefined, ["info", "warn", "error"]],
    ["debug", ["debug", "info", "warn", "error"]],
    ["error", ["error"]],
  ] as const)("writes from level %p on", (level, expected) => {
    const { log, lines } = createLog({ format: "json", ...(level !== undefined && { level }) });
    log.debug("m");
    log.info("m");
    log.warn("m");
    log.error("m");
    expect(lines.map((line) => JSON.parse(line).level)).toEqual([...expected]);
  });

  test("adds the fields of with() to each record; nearer ones win", () => {
    const { log, lines } = createLog();
    log.with({ a: 1, b: 1 }).with({ b: 2 }).info("m", { c: 3 });
    expect(lines[0]).toEndWith("m a=1 b=2 c=3\n");
  });
});

describe("silentLogger", () => {
  test("stays silent when fields are added", () => {
    expect(silentLogger.with({ a: 1 })).toBe(silentLogger);
  });
});

describe("MessageDedup", () => {
  test("reports a message once, until another one is reported", () => {
    const reported = new MessageDedup();
    const told = ["a", "a", "b", "b", "a"].map((text) => reported.isNew(text));
    expect(told).toEqual([true, false, true, false, true]);
  });

  test("reports a message again when its problem was over", () => {
    const reported = new MessageDedup();
    reported.isNew("a");
    reported.end();
    expect([reported.isNew("a"), reported.isNew("a")]).toEqual([true, false]);
  });

  test("reports a message again after the time of the reminder, counted from its last report", async () => {
    const clock = new ManualClock(0);
    const reported = new MessageDedup({ clock, afterMs: 1_000 });
    expect(reported.isNew("a")).toBe(true);
    await clock.advance(999);
    expect(reported.isNew("a")).toBe(false);
    await clock.advance(1);
    expect([reported.isNew("a"), reported.isNew("a")]).toEqual([true, false]);
    await clock.advance(1_000);
    expect(reported.isNew("a")).toBe(true);
  });
});
