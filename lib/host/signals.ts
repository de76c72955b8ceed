/**
 * SIGTERM and SIGINT as an AbortSignal.
 * @module
 */
import process from "node:process";
import { type Clock, systemClock } from "../core/clock.ts";

/** The signals that ask a process to stop. */
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
 * without a listener.
 *
 * @param names Which ones. @default {SIGTERM and SIGINT}
 * @param patienceMs How long after the first one further ones change nothing, even after `close()`: with npm, Ctrl-C
 *   sends two. @default {0}
 */
export function watchSignals(
  names: readonly StopSignal[] = ["SIGTERM", "SIGINT"],
  patienceMs = 0,
): SignalWatch {
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
