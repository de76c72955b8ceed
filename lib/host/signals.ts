/**
 * SIGTERM, SIGINT and SIGHUP as an AbortSignal.
 * @module
 */
import { readFileSync } from "node:fs";
import process from "node:process";
import { type Clock, systemClock } from "../core/clock.ts";

/** The signals that ask a process to stop: by the system, by Ctrl-C, by the end of its terminal. */
type StopSignal = "SIGTERM" | "SIGINT" | "SIGHUP";

/** Listening for signals, until {@linkcode SignalWatch.close}. */
interface SignalWatch extends Disposable {
  /** Aborts on the first signal; its reason is a {@linkcode StopRequest}. */
  readonly signal: AbortSignal;
  /** Stops listening: the next signal ends the process the way the system does. */
  close(): void;
}

/** A signal asked the process to stop. Not a failure. */
class StopRequest extends Error {
  override readonly name = "StopRequest";
  readonly received: StopSignal;

  constructor(received: StopSignal) {
    super(`the process received ${received}`);
    this.received = received;
  }
}

/** 128 plus the number of the signal, as in shells (signal(7)). */
const EXIT_CODES: Readonly<Record<StopSignal, number>> = { SIGTERM: 143, SIGINT: 130, SIGHUP: 129 };

/** Whether the program that started this process had it ignore SIGHUP. It is signal 1, the lowest bit of the mask. */
function isHangUpIgnored(): boolean {
  try {
    const [, mask = ""] = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readFileSync(STATUS, "utf8")) ?? [];
    return Number.parseInt(mask.slice(-1), 16) % 2 === 1;
  } catch {
    // Without /proc this cannot be known.
    return false;
  }
}

/** What Linux says about this process. */
const STATUS = "/proc/self/status";
/** How often the parent is looked for, in milliseconds. */
const PARENT_MS = 500;

/**
 * Aborts when the process that started this one has ended: npm passes on some signals only.
 *
 * @param signal Ends the watch
 */
export function followParent(clock: Pick<Clock, "sleep">, signal: AbortSignal): AbortSignal {
  const { ppid } = process;
  const ended = new AbortController();
  const look = async (): Promise<void> => {
    while (process.ppid === ppid) await clock.sleep(PARENT_MS, signal);
    ended.abort(new Error("the process that started this one ended"));
  };
  // The signal ends it.
  look().catch(() => undefined);
  return AbortSignal.any([signal, ended.signal]);
}

/**
 * Listens for signals. The first one aborts the signal, for an orderly stop; a further one ends the process at once,
 * with 128 plus its number. Needed even without any cleanup: for process 1 of a container the kernel drops signals
 * without a listener. SIGHUP stays ignored where the process was started so, as by nohup.
 *
 * @param patienceMs How long after the first one further ones change nothing, even after `close()`: with npm, Ctrl-C
 *   sends two. @default {0}
 */
export function watchSignals(patienceMs = 0): SignalWatch {
  const hangUp: readonly StopSignal[] = isHangUpIgnored() ? [] : ["SIGHUP"];
  const names: readonly StopSignal[] = ["SIGTERM", "SIGINT", ...hangUp];
  const stop = new AbortController();
  let patientUntilMs = 0;
  const listen = (name: StopSignal): void => {
    const nowMs = systemClock.monotonic();
    if (!stop.signal.aborted) {
      patientUntilMs = nowMs + patienceMs;
      stop.abort(new StopRequest(name));
    } else if (nowMs >= patientUntilMs) process.exit(EXIT_CODES[name]);
  };
  for (const name of names) process.on(name, listen);
  const close = (): void => {
    if (systemClock.monotonic() < patientUntilMs) return;
    for (const name of names) process.off(name, listen);
  };
  return { signal: stop.signal, close, [Symbol.dispose]: close };
}
