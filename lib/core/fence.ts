/**
 * The question whether this process may write now, for everybody who writes anywhere: to Kubernetes or to a cloud.
 * @module
 */

/**
 * This process leads no longer, or not yet: nothing may be written any more, and what is under way ends at once.
 * As the reason of a signal it means that there is no time to finish.
 */
export class LeadershipLostError extends Error {
  override readonly name = "LeadershipLostError";
}

/** Whether this process leads. */
export interface Leadership {
  /** Aborts for good when leadership is lost; its reason is a {@linkcode LeadershipLostError}. */
  readonly signal: AbortSignal;
  /** Whether nobody else can lead just now, by our own clock. */
  isHeld(): boolean;
}

/** The leadership of a process that is the only one: nobody is elected. */
export const ALONE: Leadership = { signal: new AbortController().signal, isHeld: () => true };

const NOBODY: Leadership = { signal: new AbortController().signal, isHeld: () => false };

/**
 * Lets nobody but the leader write. Whoever sends a request that changes something asks {@linkcode check} right before
 * each try, again after each pause, and ends the request by the signal of {@linkcode bind}. A process that stood still
 * while another became leader then writes nothing.
 *
 * A standby has to sign in to a cloud, write Events and stand for the Lease: these three ask no fence.
 */
export class Fence {
  #leadership: Leadership;

  /** @param leadership Who is asked. @default {nobody leads before {@linkcode follow}, so nothing is written} */
  constructor(leadership: Leadership = NOBODY) {
    this.#leadership = leadership;
  }

  /** Asks this leadership from now on. */
  follow(leadership: Leadership): void {
    this.#leadership = leadership;
  }

  /** @throws {LeadershipLostError} when this process may not write now */
  check(): void {
    const { signal } = this.#leadership;
    if (this.#leadership.isHeld()) return;
    throw signal.aborted ? signal.reason : new LeadershipLostError("this process does not lead");
  }

  /**
   * A signal for one write: that of the caller, which aborts when leadership is lost, too.
   *
   * @throws {LeadershipLostError} when this process may not write now
   */
  bind(signal: AbortSignal): AbortSignal {
    this.check();
    return AbortSignal.any([signal, this.#leadership.signal]);
  }
}
