/**
 * Problems with a file of credentials that is replaced while the process runs.
 * @module
 */
import type { Clock } from "../../core/clock.ts";
import { MessageDedup } from "../../core/log.ts";

/** Why the credentials in a file cannot be used. */
export interface FileProblem {
  readonly problem: string;
  /** Whether the file is missing or empty, as it is for a moment while a Secret is replaced. */
  readonly isAway: boolean;
}

/** If a file is missing for longer than this, it is not just being replaced. */
const AWAY_MS = 60_000;

/** Decides which problems to report: each once, and one of a missing or empty file only after a minute. */
export class FileProblems {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #reported = new MessageDedup();
  /** Since when the file is missing or empty, in monotonic milliseconds; `Infinity` if it is not. */
  #awaySinceMs = Infinity;

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  /** Notes how the file is now; `undefined`: all is well. @returns The problem, if it is to be reported now */
  findNew<P extends FileProblem>(found: P | undefined): P | undefined {
    const nowMs = this.#clock.monotonic();
    const isAway = found?.isAway === true;
    this.#awaySinceMs = isAway ? Math.min(this.#awaySinceMs, nowMs) : Infinity;
    if (isAway && nowMs - this.#awaySinceMs < AWAY_MS) return undefined;
    if (found !== undefined) return this.#reported.isNew(found.problem) ? found : undefined;
    this.#reported.end();
    return undefined;
  }
}

/** Says what is wrong with a secret that goes into a header, a cookie or a URL; `undefined` if nothing is. */
export function explainSecret(text: string): string | undefined {
  const secret = text.trim();
  if (secret === "") return "is blank";
  if (/[^\p{ASCII}]/u.test(secret)) return "holds a character that is not ASCII: copy it again";
  if (/[\0-\x20\x7f]/.test(secret)) return "holds a blank, a line break or a control character";
  return undefined;
}

/**
 * Says what the operator probably meant instead of this secret; `undefined` if it looks like one.
 *
 * @param what Name of the secret, with its article: `a token`
 * @param fileSetting Setting that names a file with the secret
 */
export function explainOddSecret(
  text: string,
  what: string,
  fileSetting: string,
): string | undefined {
  if (/^\.{0,2}\/[^/]/.test(text)) {
    return `looks like a path: name the file of ${what} in ${fileSetting}`;
  }
  return /^\$\{?\w+\}?$/.test(text) ? "looks like a variable that was not replaced" : undefined;
}
