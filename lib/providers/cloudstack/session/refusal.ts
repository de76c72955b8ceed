/**
 * What a refusal of CloudStack means, by its code, and what an operator can do about it.
 * @module
 */
import type { CloudErrorKind } from "../../../cloud/errors.ts";
import { formatDuration } from "../../../core/text/values.ts";

/** What an operator should know about a failure. Neither text holds a secret or ends in a full stop. */
export interface Explanation {
  /** Stable word for programs: `unauthorized`. */
  readonly word: string;
  /** What is wrong, in one sentence. */
  readonly problem: string;
  /** What to do about it. */
  readonly advice: string;
}

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
  /** The server's time itself, in milliseconds since the epoch; absent when the server did not say. */
  readonly serverTimeMs?: number | undefined;
}

/** The code for a parameter that is not valid. */
export const INVALID = 431;
/** The code for an internal error, and for a command that failed. */
export const INTERNAL = 530;

/** A smaller difference never matters. */
const CLOCK_MS_MIN = 60_000;
/** How long a signed request is valid, in milliseconds. */
const VALID_MS = 600_000;
/** To what a difference is rounded: the server tells its time to the second, and before the answer arrives. */
const ABOUT_MS = 10_000;
const UNKNOWN_PROJECT = /\bparameter projectid value=/i;
/** The server's words for a command that the account's role lacks, or that does not exist. */
const NO_COMMAND = /does not exist,? (or )?is not available/i;

/** What it adds if the account is no member of the project. */
const NO_MEMBER = /\bin project\b/i;

/** What a refusal means. */
export interface Judgement extends Omit<Explanation, "problem"> {
  readonly kind: CloudErrorKind;
  /** What the refusal means. */
  readonly what: string;
  /** Whether that says everything, so that an operator need not read the server's words. */
  readonly isClear?: true;
}

/** An internal error whose text has no cause: the server shows it to administrators alone. */
const NO_CAUSE = /^\s*$|\binternal (?:server )?error\b/i;
const REPORT = "report this with the version of CloudStack";
const LIMIT: Judgement = {
  kind: "denied",
  word: "limit",
  what: "the account or project has reached a limit",
  advice: "raise it",
};

const BY_CODE: Readonly<Record<number, Judgement>> = {
  405: {
    kind: "denied",
    word: "denied",
    what: "the server takes this command only by POST",
    advice: "a proxy on the way may change the method",
    isClear: true,
  },
  411: {
    kind: "denied",
    word: "twoFactors",
    what: "the account must sign in with two factors",
    advice: "use the keys of an account that need not",
    isClear: true,
  },
  429: {
    kind: "throttled",
    word: "throttled",
    what: "too many requests",
    advice: "give Landfall an account of its own, or raise api.throttling.max",
    isClear: true,
  },
  430: {
    kind: "protocol",
    word: "invalid",
    what: "a parameter is not valid, or the server does not know it",
    advice: REPORT,
  },
  [INVALID]: {
    kind: "protocol",
    word: "invalid",
    what: "a parameter is not valid, or what it names does not exist",
    advice: `check the settings that name something; if they are right, ${REPORT}`,
  },
  503: {
    kind: "unreachable",
    word: "serverError",
    what: "the management server shuts down or starts",
    advice: "try again later",
    isClear: true,
  },
  531: {
    kind: "denied",
    word: "forbidden",
    what: "the account has no right to this object",
    advice: "check project-id, and whose keys api-key and secret-key are",
  },
  532: LIMIT,
  533: {
    kind: "unreachable",
    word: "serverError",
    what: "there is not enough capacity, such as free IP addresses",
    advice: "free some, or add more",
  },
  534: {
    kind: "unreachable",
    word: "serverError",
    what: "something it needs, such as a router, does not answer",
    advice: "look at the virtual routers, and at the log of the management server",
  },
  535: LIMIT,
  536: {
    kind: "protocol",
    word: "conflict",
    what: "the object is in use",
    advice: "remove what uses it",
  },
  537: {
    kind: "protocol",
    word: "conflict",
    what: "it conflicts with another rule of the network",
    advice: "remove the other rule",
  },
};

/** What a refusal means. */
export function judgeRefusal({ code, text }: Refusal, asked: Asked): Judgement {
  const lacksCommand = code === 432 || (code === 401 && NO_COMMAND.test(text));
  if (lacksCommand && NO_MEMBER.test(text)) {
    return {
      kind: "denied",
      word: "forbidden",
      what: "the account is no member of the project",
      advice: "make it a member, or correct project-id",
      isClear: true,
    };
  }
  if (lacksCommand) {
    return {
      kind: "denied",
      word: "forbidden",
      what: `the role of the account has no ${asked.command}`,
      advice: "add a rule that allows it",
      isClear: true,
    };
  }
  if (code === 401) return judgeKeys(asked);
  if (code === INVALID && UNKNOWN_PROJECT.test(text)) {
    return {
      kind: "denied",
      word: "noProject",
      what: "there is no project with this ID",
      advice: "check project-id",
      isClear: true,
    };
  }
  if (code === INTERNAL) return judgeInternal(text);
  const known = BY_CODE[code];
  if (known !== undefined) return known;
  return code >= 500
    ? {
        kind: "unreachable",
        word: "serverError",
        what: "an error of the server",
        advice: "try again later",
      }
    : { kind: "protocol", word: "refused", what: "this was not expected", advice: REPORT };
}

function judgeInternal(text: string): Judgement {
  const shared = { kind: "unreachable", word: "serverError" } as const;
  return NO_CAUSE.test(text)
    ? {
        ...shared,
        what: "an internal error",
        advice: "the log of the management server says more",
      }
    : {
        ...shared,
        what: "the command failed for the reason in parentheses",
        advice: "remove the reason; the log of the management server may say more",
      };
}

/**
 * The server says the same about wrong keys, a wrong signature and a request that is no longer valid. If its clock is
 * behind, a request stays valid for longer: only some servers refuse one that is valid for more than 15 minutes. The
 * management server itself sends no date; a proxy in front of it adds one.
 */
function judgeKeys({ clockAheadMs, serverTimeMs }: Asked): Judgement {
  const shared = { kind: "denied", word: "unauthorized", isClear: true } as const;
  const keys = "check api-key and secret-key, or their files";
  const wrong = "the keys or the signature are wrong";
  if (clockAheadMs === undefined) {
    return {
      ...shared,
      what:
        "the keys or the signature are wrong, or a clock is: a signed request is valid for ten minutes, and the " +
        "answer has no date",
      advice: `${keys}; if that does not help, compare this machine's clock with the server's`,
    };
  }
  if (Math.abs(clockAheadMs) < CLOCK_MS_MIN) return { ...shared, what: wrong, advice: keys };
  const difference = formatDuration(Math.round(Math.abs(clockAheadMs) / ABOUT_MS) * ABOUT_MS);
  const word = clockAheadMs > 0 ? "ahead of" : "behind";
  const date = serverTimeMs === undefined ? "" : ` (Date: ${new Date(serverTimeMs).toUTCString()})`;
  const clock =
    `its clock is ${difference} ${word} this machine's${date}, ` +
    "and a signed request is valid for ten minutes";
  const isExpired = clockAheadMs >= VALID_MS - CLOCK_MS_MIN;
  return isExpired
    ? { ...shared, what: clock, advice: `correct the clocks; if that does not help, ${keys}` }
    : {
        ...shared,
        what: `${wrong}, or a clock is: ${clock}`,
        advice: `${keys}; if that does not help, correct the clocks`,
      };
}
