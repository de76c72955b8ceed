/**
 * Settings of the runtime.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { releaseAfterWork, type ReplaceableProcess, tuneRuntime } from "../../lib/host/runtime.ts";
import { ManualClock } from "../support/manual_clock.ts";

function createHost(facts: Partial<ReplaceableProcess>): {
  host: ReplaceableProcess;
  calls: unknown[];
} {
  const calls: unknown[] = [];
  const host: ReplaceableProcess = {
    execPath: "/usr/bin/landfall",
    argv0: "landfall",
    argv: ["bun", "/$bunfs/root/landfall", "run", "--v=4"],
    env: { PATH: "/bin" },
    execve: (...call) => void calls.push(call),
    ...facts,
  };
  return { host, calls };
}

describe("tuneRuntime()", () => {
  test("tuneRuntime() starts the compiled program again with its own arguments and environment", () => {
    const { host, calls } = createHost({});
    tuneRuntime(host);
    expect(calls).toEqual([
      [
        "/usr/bin/landfall",
        ["landfall", "run", "--v=4"],
        {
          PATH: "/bin",
          BUN_JSC_useJIT: "0",
          BUN_GC_TIMER_DISABLE: "1",
          MIMALLOC_PURGE_HOLES_MIN_INTERVAL: "10000",
        },
      ],
    ]);
  });

  const untouched: readonly [string, Partial<ReplaceableProcess>][] = [
    ["was started anew already", { env: { BUN_JSC_useJIT: "0" } }],
    ["is told to keep the compiler", { env: { BUN_JSC_useJIT: "1" } }],
    ["runs from source", { argv: ["/usr/bin/bun", "/src/main.ts", "run"] }],
    ["has no arguments at all", { argv: [] }],
  ];
  test.each(untouched)("tuneRuntime() leaves a process alone that %s", (_why, facts) => {
    const { host, calls } = createHost(facts);
    tuneRuntime(host);
    expect(calls).toEqual([]);
  });

  test("tuneRuntime() goes on when the system refuses", () => {
    const execve = (): never => {
      throw new Error("EACCES");
    };
    expect(() => tuneRuntime(createHost({ execve }).host)).not.toThrow();
  });
});

test("releaseAfterWork() gives memory back in the first quiet time after work, once", async () => {
  const clock = new ManualClock();
  const stop = new AbortController();
  let user = 9_000_000;
  let shrinks = 0;
  const running = releaseAfterWork(clock, stop.signal, {
    cpuUsage: () => ({ user, system: user / 2 }),
    shrink: () => (shrinks += 1),
  });
  /** A quarter of a minute in which the process takes this share of a processor. */
  const work = async (share: number): Promise<number> => {
    user += (share * 15_000_000) / 1.5;
    await clock.advance(15_000);
    return shrinks;
  };
  expect(await work(0.16)).toBe(0);
  expect(await work(0.14)).toBe(1);
  expect(await work(0)).toBe(1);
  expect(await work(1)).toBe(1);
  expect(await work(0.01)).toBe(2);
  expect(await work(0.01)).toBe(2);
  stop.abort();
  await running;
});

test("releaseAfterWork() gives memory back after a start that took little", async () => {
  const clock = new ManualClock();
  const stop = new AbortController();
  let shrinks = 0;
  const cpuUsage = (): { user: number; system: number } => ({ user: 0, system: 0 });
  const running = releaseAfterWork(clock, stop.signal, { cpuUsage, shrink: () => (shrinks += 1) });
  await clock.advance(15_000);
  expect(shrinks).toBe(1);
  stop.abort();
  await running;
});
