/**
 * Settings of the runtime.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { type ReplaceableProcess, tuneRuntime } from "../../lib/host/runtime.ts";

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
