/**
 * An error whose message says what is wrong, and what to do about it.
 * @module
 */
import { CloudError, type CloudErrorKind } from "../../../cloud/errors.ts";

/** What an operator should know about a failure. Neither text holds a secret or ends in a full stop. */
export interface Explanation {
  /** Stable word for programs: `unauthorized`. */
  readonly word: string;
  /** What is wrong, in one sentence. */
  readonly problem: string;
  /** What to do about it. */
  readonly advice: string;
}

/** A failure whose message says what is wrong, and then what to do. */
export class ExplainedError extends CloudError {
  readonly explanation: Explanation;

  /** @param message What is wrong with all details. @default {the problem} */
  constructor(
    kind: CloudErrorKind,
    explanation: Explanation,
    { message, ...options }: ErrorDetails = {},
  ) {
    super(kind, `${message ?? explanation.problem}; ${explanation.advice}`, options);
    this.explanation = explanation;
  }
}

/** What an {@linkcode ExplainedError} may have besides. */
interface ErrorDetails {
  readonly message?: string;
  readonly status?: number;
  readonly retryAfterMs?: number;
}
