/**
 * Errors of CloudStack, which say what is wrong and what to do about it.
 * @module
 */
import { CloudError, type CloudErrorKind } from "../../../cloud/errors.ts";
import { redact, shorten, toPlainText } from "../../../core/text/printable.ts";
import { type Asked, type Explanation, INVALID, judgeRefusal, type Refusal } from "./refusal.ts";

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

/** A refusal by CloudStack itself: it answered in JSON, with a code. */
export class ApiError extends ExplainedError {
  readonly code: number;
  /**
   * The value of a parameter of which the server says that no object has it. It says so of an ID that it never had, or
   * purged; and of the ID of an object that exists, if it is of another kind.
   */
  readonly unknownId: string | undefined;

  constructor(refusal: Refusal, asked: Asked) {
    const { code, text } = refusal;
    const { kind, word, what, advice, isClear } = judgeRefusal(refusal, asked);
    const said = toShown(text, asked.secrets);
    const toMessage = (words: string): string =>
      `CloudStack answered ${code}${words === "" ? "" : ` (${words})`} to ${asked.command}: ${what}`;
    const problem = toMessage(isClear === true ? "" : said);
    const retryAfterMs = kind === "throttled" ? findWaitMs(text) : undefined;
    super(
      kind,
      { word, problem, advice },
      {
        message: toMessage(said),
        status: code,
        ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      },
    );
    this.code = code;
    this.unknownId = findUnknownId(refusal);
  }
}

/**
 * The job of an earlier try of the same change was over before anyone asked about it. What is asked for now may be a
 * later change, because something undid the first one: look which of both it is before you send it again.
 */
export class JobOverError extends CloudError {
  constructor(command: string) {
    super(
      "unreachable",
      `an earlier ${command} ended without a caller; Landfall looks what it did`,
    );
  }
}

/**
 * What the failure of a change means: a refusal did nothing. Without an answer of CloudStack the outcome is unknown,
 * and nothing sends the change again by itself: look whether it was made before you do.
 */
export function toChangeError(error: unknown, command: string): unknown {
  if (!(error instanceof CloudError) || error instanceof ApiError) return error;
  const { kind, message, status } = error;
  if (kind === "denied" || kind === "throttled") return error;
  const more = `CloudStack may have carried out ${command} all the same`;
  const options = { cause: error, ...(status !== undefined && { status }) };
  return new CloudError(kind, `${message}; ${more}`, options);
}

/** How much to show of the server's text. */
const SAID_CHARS_MAX = 300;
const WAIT_MS_MAX = 300_000;
const UNKNOWN_ID = /\bvalue=(\S+) due to incorrect long value format, or entity does not exist\b/i;
const WAIT = /retry after \[?(\d{1,12})\]? ?ms/i;

function findWaitMs(text: string): number | undefined {
  const ms = WAIT.exec(text)?.[1];
  return ms === undefined ? undefined : Math.min(Number(ms), WAIT_MS_MAX);
}

function findUnknownId({ code, text }: Refusal): string | undefined {
  return code === INVALID ? UNKNOWN_ID.exec(text)?.[1]?.toLowerCase() : undefined;
}

function toShown(text: string, secrets: readonly string[]): string {
  return shorten(toPlainText(redact(text, secrets)), SAID_CHARS_MAX);
}
