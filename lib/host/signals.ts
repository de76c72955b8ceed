/**
 * SIGTERM and SIGINT as an AbortSignal.
 * @module
 */
import process from "node:process";

/** The signals that ask a process to stop. */
type StopSignal = "SIGTERM" | "SIGINT";

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
const EXIT_CODES: Readonly<Record<StopSignal, number>> = { SIGTERM: 143, SIGINT: 130 };

/**
 * Listens for SIGTERM and SIGINT. The first one aborts the signal, for an orderly stop; the second one ends the process
 * at once, with 130 or 143. Needed even without any cleanup: for process 1 of a container the kernel drops signals
 * without a listener.
 */
export function watchSignals(): SignalWatch {
  const stop = new AbortController();
  const toListener = (name: StopSignal) => (): void => {
    if (stop.signal.aborted) process.exit(EXIT_CODES[name]);
    else stop.abort(new StopRequest(name));
  };
  const listeners = { SIGTERM: toListener("SIGTERM"), SIGINT: toListener("SIGINT") };
  process.on("SIGTERM", listeners.SIGTERM);
  process.on("SIGINT", listeners.SIGINT);
  const close = (): void => {
    process.off("SIGTERM", listeners.SIGTERM);
    process.off("SIGINT", listeners.SIGINT);
  };
  return { signal: stop.signal, close, [Symbol.dispose]: close };
}
