/**
 * The check whether this process may write now, for all code that writes to Kubernetes or to a cloud.
 * @module
 */

/**
 * This process does not lead yet, or not any more: it must not write, and running writes end immediately. As the reason
 * of a signal it means that there is no time to finish.
 */
export class LeadershipLostError extends Error {
  override readonly name = "LeadershipLostError";
}

/** Whether this process leads. */
export interface Leadership {
  /** Aborts for good when leadership is lost; its reason is a {@linkcode LeadershipLostError}. */
  readonly signal: AbortSignal;
  /** Whether no other process can lead now, by our own clock. */
  isHeld(): boolean;
}

/** The leadership of the only process, without an election. */
export const ALONE: Leadership = { signal: new AbortController().signal, isHeld: () => true };

const NO_LEADER: Leadership = { signal: new AbortController().signal, isHeld: () => false };

/**
 * Lets only the leader write. Code that sends a request that changes something calls {@linkcode check} right before
 * each try, again after each pause, and ends the request by the signal of {@linkcode bind}. A process that was paused
 * while another became leader then writes nothing.
 *
 * A standby must sign in to a cloud, write Events and compete for the Lease: these three need no fence.
 */
export class Fence {
  #leadership: Leadership;

  /** @param leadership The leadership to ask. @default {none before {@linkcode follow}, so nothing is written} */
  constructor(leadership: Leadership = NO_LEADER) {
    this.#leadership = leadership;
  }

  /** Uses this leadership from now on. */
  follow(leadership: Leadership): void {
    this.#leadership = leadership;
  }

  /** @throws {LeadershipLostError} if this process must not write now */
  check(): void {
    const { signal } = this.#leadership;
    if (this.#leadership.isHeld()) return;
    throw signal.aborted ? signal.reason : new LeadershipLostError("this process does not lead");
  }

  /**
   * A signal for one write: it aborts with the caller's signal, and when leadership is lost.
   *
   * @throws {LeadershipLostError} if this process must not write now
   */
  bind(signal: AbortSignal): AbortSignal {
    this.check();
    return AbortSignal.any([signal, this.#leadership.signal]);
  }
}
