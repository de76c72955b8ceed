/**
 * What a refusal of CloudStack means, by its code, and what an operator can do about it.
 * @module
 */
import { CloudError, type CloudErrorKind } from "../../../cloud/errors.ts";
import { formatDuration } from "../../../core/text/duration.ts";
import { shorten, toPlainText } from "../../../core/text/printable.ts";
import { redact } from "../../../core/text/redact.ts";

/** A refusal as the server words it. */
export interface Refusal {
  /** CloudStack's error code; also the HTTP status, except for a job that failed. */
  readonly code: number;
  readonly text: string;
}

/** What was asked, and what must not be shown. */
export interface Asked {
  readonly command: string;
  /** Keys and signatures: a server may repeat the request. */
  readonly secrets: readonly string[];
  /** The server's time minus ours, in milliseconds; absent when the server did not say. */
  readonly clockAheadMs?: number | undefined;
}

/** A refusal by CloudStack itself: it answered in JSON, with a code. */
export class ApiError extends CloudError {
  readonly code: number;
  /**
   * The value of a parameter of which the server says that no object has it. It says so of an ID that it never had, or
   * purged; and of the ID of an object that exists, if it is of another kind.
   */
  readonly unknownId: string | undefined;

  constructor(refusal: Refusal, asked: Asked) {
    const { kind, advice } = judge(refusal, asked);
    const said = toShown(refusal.text, asked.secrets);
    const answered = `CloudStack answered ${refusal.code}${said === "" ? "" : ` (${said})`} to ${asked.command}`;
    const retryAfterMs = kind === "throttled" ? findWaitMs(refusal.text) : undefined;
    super(kind, `${answered}: ${advice}`, {
      status: refusal.code,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    });
    this.code = refusal.code;
    this.unknownId = findUnknownId(refusal);
  }
}

/**
 * A change was sent, and no answer says whether it was made. Nothing sends it again by itself: look whether it was made
 * before you do.
 */
export class OutcomeUnknownError extends CloudError {
  constructor(command: string, cause: CloudError) {
    super(cause.kind, `${cause.message}; CloudStack may have carried out ${command} all the same`, {
      cause,
      ...(cause.status !== undefined && { status: cause.status }),
    });
  }
}

/**
 * What the failure of a change means: a refusal did nothing; without an answer of CloudStack the
 * outcome is unknown.
 */
export function toChangeError(error: unknown, command: string): unknown {
  const isKnown =
    !(error instanceof CloudError) ||
    error instanceof ApiError ||
    error.kind === "denied" ||
    error.kind === "throttled";
  return isKnown ? error : new OutcomeUnknownError(command, error);
}

/** How much to show of the server's text. */
const SAID_CHARS_MAX = 300;
const WAIT_MS_MAX = 300_000;
/** A smaller difference never matters, and the server tells its time only to the second. */
const CLOCK_MS_MIN = 60_000;
const INVALID = 431;
const UNKNOWN_ID = /\bvalue=(\S+) due to incorrect long value format, or entity does not exist\b/i;
const UNKNOWN_PROJECT = /\bparameter projectid value=/i;
const WAIT = /retry after \[?(\d{1,12})\]? ?ms/i;
/** The server's words for a command that the account's role lacks, or that does not exist. */
const NO_COMMAND = /does not exist,? (or )?is not available/i;

interface Judgement {
  readonly kind: CloudErrorKind;
  readonly advice: string;
}

const BY_CODE: ReadonlyMap<number, Judgement> = new Map([
  [
    405,
    {
      kind: "denied",
      advice:
        "the server takes this command only by POST; a proxy on the way may change the method",
    },
  ],
  [
    411,
    {
      kind: "denied",
      advice: "the account must sign in with two factors; use the keys of an account that need not",
    },
  ],
  [429, { kind: "throttled", advice: "too many requests" }],
  [430, { kind: "protocol", advice: "a parameter is not valid, or the server does not know it" }],
  [
    INVALID,
    { kind: "protocol", advice: "a parameter is not valid, or what it names does not exist" },
  ],
  [
    503,
    { kind: "unreachable", advice: "the management server shuts down or starts; try again later" },
  ],
  [
    530,
    {
      kind: "unreachable",
      advice: "an internal error; the log of the management server says more",
    },
  ],
  [
    531,
    {
      kind: "denied",
      advice:
        "the account has no right to this object; check project-id, and whose keys api-key and secret-key are",
    },
  ],
  [532, { kind: "denied", advice: "the account or project has reached a limit; raise it" }],
  [533, { kind: "unreachable", advice: "there is not enough capacity, such as free IP addresses" }],
  [534, { kind: "unreachable", advice: "something it needs, such as a router, does not answer" }],
  [535, { kind: "denied", advice: "the account or project has reached a limit; raise it" }],
  [536, { kind: "protocol", advice: "the object is in use" }],
  [537, { kind: "protocol", advice: "it conflicts with another rule of the network" }],
]);

function judge({ code, text }: Refusal, asked: Asked): Judgement {
  const lacksCommand = code === 432 || (code === 401 && NO_COMMAND.test(text));
  if (lacksCommand) {
    const advice = `the role of the account has no ${asked.command}; add a rule that allows it`;
    return { kind: "denied", advice };
  }
  if (code === 401) return { kind: "denied", advice: adviseOnKeys(asked) };
  if (code === INVALID && UNKNOWN_PROJECT.test(text)) {
    return { kind: "denied", advice: "there is no project with this ID; check project-id" };
  }
  const known = BY_CODE.get(code);
  if (known !== undefined) return known;
  return code >= 500
    ? { kind: "unreachable", advice: "try again later" }
    : { kind: "protocol", advice: "this was not expected" };
}

function adviseOnKeys({ clockAheadMs = 0 }: Asked): string {
  const keys = "check api-key and secret-key, or their files";
  if (Math.abs(clockAheadMs) < CLOCK_MS_MIN) return `the keys or the signature are wrong; ${keys}`;
  const difference = formatDuration(Math.round(Math.abs(clockAheadMs) / 1_000) * 1_000);
  const word = clockAheadMs > 0 ? "ahead of" : "behind";
  return (
    `its clock is ${difference} ${word} this machine's, and a signed request is valid for ten minutes; ` +
    `correct the clocks; if that does not help, ${keys}`
  );
}

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
