/**
 * What the operating system is to a process: its clocks, and the power to stop it, freeze it, or end it in the middle.
 * @module
 */
import type { Clock } from "../../../lib/core/clock.ts";
import type { Timeline } from "../timeline.ts";

/** How a process's clocks go wrong. */
export interface ClockErrors {
  /** How fast both go. 1 is right. */
  readonly rate: number;
  /** How far the wall clock is off at the start, in milliseconds. */
  readonly skewMs: number;
}

/** A pause ends a little later than it ends: what was held up is done first. */
const PAUSE_END_MS = 6_000;

/** One process, from its start to its end. Nothing reaches its code but through {@linkcode Process.enter}. */
export class Process {
  /** Which replica it is, and which start of it: `a3`. */
  readonly name: string;
  /** What it sees of time. It cannot set it. */
  readonly clock: Clock;
  /** How fast its clocks go. */
  readonly rate: number;
  readonly #timeline: Timeline;
  readonly #alarms = new Set<() => void>();
  #skewMs: number;
  #state: "running" | "paused" | "dead" = "running";
  /** When it was paused, and until when, the last first; milliseconds of the timeline. */
  #pauses: { readonly fromMs: number; untilMs: number }[] = [];
  /** What waits for a paused process to go on, each in the order it came. */
  #heldTimers: (() => void)[] = [];
  #heldSockets: (() => void)[] = [];

  constructor(name: string, timeline: Timeline, { rate, skewMs }: ClockErrors) {
    this.name = name;
    this.#timeline = timeline;
    this.#skewMs = skewMs;
    this.rate = rate;
    this.clock = {
      // Wall clocks have whole milliseconds: what is written down of them is read as such.
      now: () => Math.floor(timeline.now() + timeline.monotonic() * (rate - 1) + this.#skewMs),
      monotonic: () => timeline.monotonic() * rate,
      sleep: (ms, signal) => this.#sleep(ms / rate, signal),
    };
  }

  get isPaused(): boolean {
    return this.#state === "paused";
  }

  /** Whether it was ended in the middle of whatever it did. */
  get isDead(): boolean {
    return this.#state === "dead";
  }

  /** How many timers it has. */
  get timers(): number {
    return this.#alarms.size;
  }

  /** Sets its wall clock, forward or back. */
  jump(ms: number): void {
    this.#skewMs += ms;
  }

  /** Sets its wall clock right. */
  setRight(): void {
    this.#skewMs = 0;
  }

  /** As SIGSTOP: nothing happens in it, but its clocks go on. */
  pause(): void {
    if (this.#state !== "running") return;
    this.#state = "paused";
    this.#pauses.unshift({ fromMs: this.#timeline.monotonic(), untilMs: Infinity });
  }

  /**
   * The same moment, or an earlier one if it was paused then: by so much as it could not do.
   *
   * @param atMs Milliseconds of the timeline
   */
  skipPauses(atMs: number): number {
    let skippedMs = atMs;
    for (const { fromMs, untilMs } of this.#pauses) {
      if (skippedMs >= fromMs && skippedMs - untilMs <= PAUSE_END_MS) {
        skippedMs = fromMs - PAUSE_END_MS;
      }
    }
    return skippedMs;
  }

  /**
   * As SIGCONT: all that came meanwhile comes now, one thing after the other, as an event loop takes them.
   *
   * @param isNetFirst Whether what came by the network comes before the timers that are due. @default {false}
   */
  resume(isNetFirst: boolean = false): void {
    if (this.#state !== "paused") return;
    this.#state = "running";
    const [last] = this.#pauses;
    if (last) last.untilMs = this.#timeline.monotonic();
    const [timers, sockets] = [this.#heldTimers, this.#heldSockets];
    this.#heldTimers = [];
    this.#heldSockets = [];
    const held = isNetFirst ? [...sockets, ...timers] : [...timers, ...sockets];
    for (const act of held) this.#timeline.schedule(0, () => this.enter(act));
  }

  /** As SIGKILL: nothing happens in it any more. */
  kill(): void {
    this.#state = "dead";
    this.#heldTimers = [];
    for (const cancel of this.#alarms) cancel();
    this.#alarms.clear();
  }

  /**
   * Lets the code of a dead process run to its end, when the story is over and nothing can be reached any more. A wait
   * that never ends would keep the whole world: the runtime never forgets a signal that somebody listens to.
   */
  bury(): void {
    if (this.isPaused) this.kill();
    if (!this.isDead) return;
    this.#state = "running";
    const held = this.#heldSockets;
    this.#heldSockets = [];
    for (const act of held) act();
  }

  /** Lets something that came by the network happen in the process: at once, when it goes on, or when it is buried. */
  enter(act: () => void): void {
    if (this.#state === "running") act();
    else this.#heldSockets.push(act);
  }

  #ring(act: () => void): void {
    if (this.#state === "running") act();
    else if (this.#state === "paused") this.#heldTimers.push(act);
  }

  #sleep(ms: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.reject(signal.reason);
    if (ms <= 0) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const wake = (): void => {
        signal.removeEventListener("abort", abort);
        this.#alarms.delete(cancel);
        resolve();
      };
      const abort = (): void => {
        cancel();
        this.#alarms.delete(cancel);
        reject(signal.reason);
      };
      const cancel = this.#timeline.schedule(ms, () => this.#ring(wake));
      this.#alarms.add(cancel);
      signal.addEventListener("abort", abort, { once: true });
    });
  }
}
