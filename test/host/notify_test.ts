/**
 * The way to the service manager.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { createLogger } from "../../lib/core/log.ts";
import { createNotifier, type NotifierOptions, type ProgramRunner } from "../../lib/host/notify.ts";
import { ManualClock } from "../support/manual_clock.ts";

interface Told {
  readonly calls: { args: readonly string[]; env: Readonly<Record<string, string>> }[];
  readonly log: string[];
  readonly options: NotifierOptions;
}

function createStage(
  env: NotifierOptions["env"],
  answer: () => Promise<void> = () => Promise.resolve(),
): Told {
  const calls: Told["calls"] = [];
  const log: string[] = [];
  const run: ProgramRunner = (file, args, childEnv) => {
    calls.push({ args: [file, ...args], env: childEnv });
    return answer();
  };
  const logger = createLogger({ format: "text", write: (line) => log.push(line), now: () => 0 });
  const options = { env, clock: new ManualClock(), log: logger, pid: 7, run };
  return { calls, log, options };
}

const SOCKET = { NOTIFY_SOCKET: "/run/systemd/notify" };

describe("createNotifier()", () => {
  test.each([{}, { NOTIFY_SOCKET: "" }, { WATCHDOG_USEC: "1000" }])(
    "createNotifier() is nothing without a socket: %j",
    (env) => expect(createNotifier(createStage(env).options)).toBeUndefined(),
  );

  const watchdogs: readonly [Record<string, string>, number | undefined][] = [
    [{}, undefined],
    [{ WATCHDOG_USEC: "30000000" }, 30_000],
    [{ WATCHDOG_USEC: "30000000", WATCHDOG_PID: "7" }, 30_000],
    [{ WATCHDOG_USEC: "30000000", WATCHDOG_PID: "8" }, undefined],
    [{ WATCHDOG_USEC: "0" }, undefined],
    [{ WATCHDOG_USEC: "-5" }, undefined],
    [{ WATCHDOG_USEC: "soon" }, undefined],
  ];
  test.each(watchdogs)("createNotifier() reads the watchdog of %j: %p ms", (env, expected) => {
    const notifier = createNotifier(createStage({ ...SOCKET, ...env }).options);
    expect(notifier?.watchdogMs).toBe(expected);
  });

  test("createNotifier() tells all assignments at once, each on one line, and gives no secret on", async () => {
    const { calls, options } = createStage({ ...SOCKET, PATH: "/bin", XOA_TOKEN: "secret" });
    await createNotifier(options)?.notify({ READY: "1", STATUS: "leading;\nWATCHDOG=1 " });
    expect(calls).toEqual([
      {
        args: ["systemd-notify", "READY=1", "STATUS=leading; WATCHDOG=1"],
        env: { ...SOCKET, PATH: "/bin" },
      },
    ]);
  });

  test("createNotifier() tells one thing after the other", async () => {
    const gate = Promise.withResolvers<void>();
    const { calls, options } = createStage(SOCKET, () => gate.promise);
    const notifier = createNotifier(options);
    const first = notifier?.notify({ READY: "1" });
    const second = notifier?.notify({ STOPPING: "1" });
    await Promise.resolve();
    expect(calls).toHaveLength(1);
    gate.resolve();
    await Promise.all([first, second]);
    expect(calls.map(({ args }) => args[1])).toEqual(["READY=1", "STOPPING=1"]);
  });

  test("createNotifier() says once that the same thing fails, and goes on trying", async () => {
    const { calls, log, options } = createStage(SOCKET, () => Promise.reject(new Error("refused")));
    const notifier = createNotifier(options);
    for (let time = 0; time < 3; time += 1) await notifier?.notify({ WATCHDOG: "1" });
    expect(calls).toHaveLength(3);
    expect(log).toHaveLength(1);
    expect(log[0]).toContain("refused");
  });

  test("createNotifier() gives up where the program is not there", async () => {
    const { log, options } = createStage({ ...SOCKET, PATH: "/nowhere" });
    const { run: _run, ...real } = options;
    const notifier = createNotifier(real);
    await notifier?.notify({ READY: "1" });
    await notifier?.notify({ WATCHDOG: "1" });
    expect(log).toHaveLength(1);
    expect(log[0]).toContain("systemd-notify was not found in /nowhere");
  });
});
