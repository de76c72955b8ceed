/**
 * Reports the state of the process to the service manager: sd_notify(3), through systemd-notify(1).
 *
 * The protocol is a datagram over a unix socket, which Bun cannot send: it has no such sockets, and its foreign
 * functions need the JIT compiler, which is off here and which `MemoryDenyWriteExecute=` forbids. So a child process
 * runs systemd-notify, which every host with systemd has. The unit needs `NotifyAccess=all` for this, and
 * `KillMode=mixed` so that the end can be reported.
 * Without `NOTIFY_SOCKET` in the environment nothing of this exists.
 * @module
 */
import { execFile } from "node:child_process";
import process from "node:process";
import { type Clock, withDeadline } from "../core/clock.ts";
import { describeError, findErrorCode } from "../core/errors.ts";
import { type Logger, MessageDedup } from "../core/log.ts";

/** Assignments of sd_notify(3), such as `READY: "1"`. */
export type Notification = Readonly<Record<string, string>>;

/** Sends messages to the service manager. */
export interface Notifier {
  /** How often the service manager must hear `WATCHDOG=1`, in milliseconds; absent: it does not watch. */
  readonly watchdogMs?: number;
  /**
   * Sends all assignments at once, after those that are still running. Resolves when the service manager has them, or
   * when that has failed, which is logged once: supervision must not break the process that it watches.
   */
  notify(notification: Notification): Promise<void>;
}

/** Options of a {@linkcode Notifier}. */
interface NotifierOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly log: Logger;
}

const PROGRAM = "systemd-notify";
/** The program itself waits at most 5 s for the service manager to have read the message. */
const DEADLINE_MS = 10_000;

/** Sends messages to the service manager that started this process; absent if none wants them. */
export function createNotifier(options: NotifierOptions): Notifier | undefined {
  const { env, clock, log } = options;
  const socket = env["NOTIFY_SOCKET"];
  if (!socket) return undefined;
  // Our environment may contain credentials of clouds: the child gets only what it needs.
  const childEnv = { NOTIFY_SOCKET: socket, PATH: env["PATH"] ?? "/usr/bin:/bin" };
  let isMissing = false;
  const reported = new MessageDedup();
  const send = async (notification: Notification): Promise<void> => {
    if (isMissing) return;
    const args = Object.entries(notification).map(([name, value]) => `${name}=${toLine(value)}`);
    try {
      const deadline = withDeadline(new AbortController().signal, DEADLINE_MS, clock);
      await runProgram(args, childEnv, deadline);
      reported.end();
    } catch (error) {
      isMissing = findErrorCode(error) === "ENOENT";
      const reason = isMissing
        ? `the program ${PROGRAM} was not found in ${childEnv.PATH}`
        : `${PROGRAM} failed: ${describeFailure(error)}`;
      if (reported.isNew(reason)) log.warn("Cannot notify the service manager", { reason });
    }
  };
  let last = Promise.resolve();
  const watchdogMs = toWatchdogMs(env);
  return {
    ...(watchdogMs !== undefined && { watchdogMs }),
    notify: (notification) => (last = last.then(() => send(notification))),
  };
}

/** `WATCHDOG_USEC` is for the process that `WATCHDOG_PID` names, or for any process if that is not set. */
function toWatchdogMs(env: NotifierOptions["env"]): number | undefined {
  const micros = env["WATCHDOG_USEC"] ?? "";
  const owner = env["WATCHDOG_PID"];
  if (!/^[1-9]\d*$/.test(micros) || (owner && owner !== String(process.pid))) return undefined;
  return Number(micros) / 1_000;
}

/** A newline would begin the next assignment. */
function toLine(value: string): string {
  return value.replaceAll(/\s+/g, " ").trim();
}

function describeFailure(error: unknown): string {
  const signal = error instanceof Error && "signal" in error ? error.signal : undefined;
  return signal ? `it was ended by ${String(signal)}` : describeError(error);
}

/** Runs the program to its end. Rejects with its output when it cannot run or fails. */
function runProgram(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const settings = { env: { ...env }, signal, killSignal: "SIGKILL" } as const;
    execFile(PROGRAM, args, settings, (error, _stdout, stderr) => {
      if (!error) resolve();
      else if (findErrorCode(error) !== "" || stderr === "") reject(error);
      else reject(new Error(stderr.trim()));
    });
  });
}
