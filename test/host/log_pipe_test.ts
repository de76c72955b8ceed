import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MetricsRegistry } from "../../lib/core/metrics.ts";
import { exportLog, LogPipe } from "../../lib/host/log_pipe.ts";
import { ManualClock } from "../support/manual_clock.ts";

const LINE = `${"x".repeat(1_023)}\n`;
const PIPE_LINES = 64;
const WAITING_LINES = 1_024;
const LONG_MS = 10_000;

let folder = "";
let path = "";
let reader = -1;
let clock: ManualClock;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "log-pipe-"));
  path = join(folder, "pipe");
  Bun.spawnSync(["mkfifo", path]);
  // For writing, too: so it opens without waiting for anybody.
  reader = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  clock = new ManualClock();
});
afterEach(() => {
  closeSync(reader);
  rmSync(folder, { recursive: true });
});

function open(fd: number = reader): LogPipe {
  const pipe = LogPipe.open(fd, clock);
  if (pipe === undefined) throw new Error("No pipe");
  return pipe;
}

/** All that is in the pipe now. */
function read(): string {
  const chunk = Buffer.alloc(2 * 1024 * 1024);
  try {
    return chunk.toString("utf8", 0, readSync(reader, chunk));
  } catch {
    return "";
  }
}

/** All that comes as long as the pipe is read. */
async function readAll(): Promise<string> {
  let all = "";
  for (let piece = read(); piece !== ""; piece = read()) {
    all += piece;
    await clock.advance(LONG_MS);
  }
  return all;
}

function writeMany(pipe: LogPipe, count: number): void {
  for (let at = 0; at < count; at += 1) pipe.write(LINE);
}

describe("LogPipe", () => {
  test("writes at once while there is room", () => {
    const pipe = open();
    pipe.write("a\n");
    pipe.write("ü\n");
    expect(read()).toBe("a\nü\n");
  });

  test("keeps what does not fit, in order and to the last byte", async () => {
    const pipe = open();
    const long = `${"ü".repeat(100_000)}\n`;
    pipe.write(long);
    pipe.write("b\n");
    await clock.advance(LONG_MS);
    pipe.write("c\n");
    expect(await readAll()).toBe(`${long}b\nc\n`);
    pipe.write("d\n");
    expect(read()).toBe("d\n");
    expect(pipe.lost).toBe(0);
  });

  test("loses what is too much, in one piece, and reports it in its place", async () => {
    const pipe = open();
    pipe.onLost((lines) => pipe.write(`lost ${lines}\n`));
    writeMany(pipe, PIPE_LINES + WAITING_LINES + 5);
    pipe.write("small\n");
    expect(pipe.lost).toBe(6);
    read();
    await clock.advance(LONG_MS);
    pipe.write("small\n");
    const rest = await readAll();
    pipe.write("after\n");
    expect(rest.replaceAll(LINE, "")).toBe("lost 7\n");
    expect(rest).toEndWith("lost 7\n");
    expect(read()).toBe("after\n");
  });

  test("asks rarely while nobody reads, and no longer when all was read", async () => {
    const pipe = open();
    writeMany(pipe, PIPE_LINES + 1);
    await clock.advance(LONG_MS);
    expect(clock.pending).toBe(1);
    await readAll();
    expect(clock.pending).toBe(0);
  });

  test("flush() ends soon although nobody reads", () => {
    const pipe = open();
    writeMany(pipe, PIPE_LINES + 1);
    const startMs = performance.now();
    pipe.flush();
    expect(performance.now() - startMs).toBeWithin(400, 2_000);
    read();
    pipe.flush();
    expect(read()).toBe(LINE);
  });

  test("goes on when the reader has gone", async () => {
    const other = join(folder, "other");
    Bun.spawnSync(["mkfifo", other]);
    const both = openSync(other, constants.O_RDWR);
    const pipe = open(both);
    writeMany(pipe, PIPE_LINES + 1);
    closeSync(both);
    await clock.advance(LONG_MS);
    pipe.write("a\n");
    expect(pipe.lost).toBe(2);
    expect(clock.pending).toBe(0);
  });

  test("open() leaves alone what is no pipe", () => {
    const file = openSync(join(folder, "file"), "w");
    expect(LogPipe.open(file, clock)).toBeUndefined();
    closeSync(file);
    expect(LogPipe.open(9_999, clock)).toBeUndefined();
  });
});

test("exportLog() counts what was lost", () => {
  const metrics = new MetricsRegistry();
  const pipe = { lost: 0 };
  exportLog(metrics, pipe);
  expect(metrics.render()).toContain("landfall_log_lines_lost_total 0");
  pipe.lost = 3;
  expect(metrics.render()).toContain("landfall_log_lines_lost_total 3");
  expect(metrics.render()).toContain("landfall_log_lines_lost_total 3");
});
