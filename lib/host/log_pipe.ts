/**
 * A log that goes into a pipe: a slow reader does not stop the process.
 * @module
 */
import { constants, fstatSync, openSync, writeSync } from "node:fs";
import { findErrorCode } from "../core/errors.ts";
import { type Clock, systemClock } from "../core/clock.ts";
import type { MetricsRegistry } from "../core/metrics.ts";

/** How many bytes wait for the reader. When they are full, further lines are lost. The pipe itself holds 64 KiB. */
const WAITING_BYTES_MAX = 1024 * 1024;
const PAUSE_MS_MIN = 20;
const PAUSE_MS_MAX = 1_000;
const FLUSH_TRIES = 25;

/**
 * Writes into a pipe and never waits for its reader. Lines that do not fit wait in memory, in order. When the memory is
 * full, lines are lost until all waiting lines were read, so that there is one gap, and its place is known.
 */
export class LogPipe {
  readonly #fd: number;
  readonly #clock: Clock;
  /** Lines that did not fit into the pipe; the first may be the rest of a line. */
  readonly #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #isDraining = false;
  #lost = 0;
  /** How many lost lines were not reported yet. */
  #untold = 0;
  #tell: ((lines: number) => void) | undefined;

  private constructor(fd: number, clock: Clock) {
    this.#fd = fd;
    this.#clock = clock;
  }

  /**
   * Opens the pipe behind a file descriptor again: whether writes wait is a property of the open pipe, which other
   * processes of the same parent may share.
   *
   * @param fd Does not change
   * @returns `undefined` if it is not a pipe (a file needs no reader, and has only one position), or cannot be opened
   */
  static open(fd: number, clock: Clock = systemClock): LogPipe | undefined {
    try {
      if (!fstatSync(fd).isFIFO()) return undefined;
      const path = `/proc/self/fd/${fd}`;
      return new LogPipe(openSync(path, constants.O_WRONLY | constants.O_NONBLOCK), clock);
    } catch {
      return undefined;
    }
  }

  /** How many lines were lost so far. */
  get lost(): number {
    return this.#lost;
  }

  /** Sets the function that reports lost lines, as soon as everything before them was read. */
  onLost(tell: (lines: number) => void): void {
    this.#tell = tell;
  }

  /** Writes a line, now or later. */
  write(line: string): void {
    const bytes = Buffer.from(line);
    // The reader may have made room; many writes in one turn would not let it.
    if (this.#waiting.length === 0 || this.#writeWaiting()) {
      const rest = this.#push(bytes);
      if (rest.length > 0) this.#keep(rest);
    } else if (this.#untold > 0 || this.#waitingBytes + bytes.length > WAITING_BYTES_MAX) {
      this.#lost += 1;
      this.#untold += 1;
    } else this.#keep(bytes);
  }

  /** Gives the reader half a second to read the waiting lines, at the end. Blocks everything else. */
  flush(): void {
    const lock = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
    for (let tries = 0; !this.#writeWaiting() && tries < FLUSH_TRIES; tries += 1) {
      Atomics.wait(lock, 0, 0, PAUSE_MS_MIN);
    }
  }

  /** No event says that the reader continues. */
  async #drain(): Promise<void> {
    if (this.#isDraining) return;
    this.#isDraining = true;
    const { signal } = new AbortController();
    let pauseMs = PAUSE_MS_MIN;
    for (let isDone = false; !isDone;) {
      await this.#clock.sleep(pauseMs, signal);
      const before = this.#waitingBytes;
      isDone = this.#writeWaiting();
      const isRead = this.#waitingBytes < before;
      pauseMs = isRead ? PAUSE_MS_MIN : Math.min(pauseMs * 2, PAUSE_MS_MAX);
    }
    this.#isDraining = false;
  }

  /** Writes the waiting lines, and then reports lost ones. @returns Whether nothing waits any more */
  #writeWaiting(): boolean {
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      const rest = this.#push(first);
      this.#waitingBytes -= first.length - rest.length;
      if (rest.length > 0) {
        this.#waiting[0] = rest;
        return false;
      }
      this.#waiting.shift();
    }
    const lines = this.#untold;
    this.#untold = 0;
    if (lines > 0) this.#tell?.(lines);
    return this.#waiting.length === 0;
  }

  #keep(bytes: Buffer): void {
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    void this.#drain();
  }

  /** Writes what fits. @returns The rest; nothing if the reader has gone */
  #push(bytes: Buffer): Buffer {
    try {
      return bytes.subarray(writeSync(this.#fd, bytes));
    } catch (error) {
      if (findErrorCode(error) === "EAGAIN") return bytes;
      this.#lost += 1;
      return bytes.subarray(bytes.length);
    }
  }
}

/**
 * Registers `landfall_log_lines_lost_total`.
 *
 * @param pipe Absent if the log is not a pipe: then no line is lost
 */
export function exportLog(metrics: MetricsRegistry, pipe: Pick<LogPipe, "lost"> | undefined): void {
  const lost = metrics.counter({
    name: "landfall_log_lines_lost_total",
    help: "Log lines that were lost because the reader of the pipe was too slow",
  });
  metrics.onCollect(() => lost.inc({}, (pipe?.lost ?? 0) - lost.value()));
}
