/**
 * Access to a path: a bearer token that the cluster accepts, of a user whom the cluster allows to read the path.
 * @module
 */
import { createHash } from "node:crypto";
import type { Clock } from "../core/clock.ts";
import { RateBudget } from "../core/concurrency.ts";
import type { Logger } from "../core/log.ts";
import { ReviewCache, TooManyQuestions } from "./review_cache.ts";
import type { Handler } from "./sockets/server.ts";

/** Decides on access. `User` is all that it knows about a user; `JSON.stringify` must not lose any of it. */
export interface Reviewer<User> {
  /**
   * @returns The user of the token, or `undefined` if the cluster does not accept it
   * @throws when the review fails
   */
  authenticate(token: string, signal: AbortSignal): Promise<User | undefined>;
  /** @throws when the review fails */
  authorize(
    user: User,
    access: { readonly path: string; readonly verb: "get" },
    signal: AbortSignal,
  ): Promise<boolean>;
}

/** What {@linkcode guardAccess} needs. */
interface AccessOptions<User> {
  readonly reviewer: Reviewer<User>;
  /** Paths that need no token: `/healthz`, which includes `/healthz/name`, or `/debug/*`. */
  readonly alwaysAllowPaths: readonly string[];
  readonly clock: Clock;
  readonly log: Logger;
  /** Ends running reviews. */
  readonly signal: AbortSignal;
}

/** The paths below these name single checks. They show no more than the whole. */
const PROBES: ReadonlySet<string> = new Set(["/healthz", "/livez", "/readyz"]);
const BEARER = /^bearer +([\w.~+/=-]+) *$/i;
const RETRY_SECONDS = "5";
const REFUSED = { max: 20, perSecond: 2 } as const;

type Outcome = "allowed" | "unauthorized" | "notAccepted" | "forbidden" | "tooMany" | "unavailable";

/**
 * Passes allowed requests to `handler`, and answers all others: 401 without an accepted token, 403 for a path that is
 * not allowed, 429 after too many refused requests, 503 when a review fails. HEAD counts as GET. Reviews are cached
 * for ten seconds; only hashes of tokens are kept.
 */
export function guardAccess<User>(handler: Handler, options: AccessOptions<User>): Handler {
  const access = new Access(options);
  return {
    async fetch(request) {
      const path = toPath(request.url);
      if (path === undefined) return toRefusal(400, "bad request");
      const isOpen = options.alwaysAllowPaths.some((pattern) => isMatch(path, pattern));
      const outcome = isOpen ? "allowed" : await access.review(request, path);
      return outcome === "allowed" ? await handler.fetch(request) : REFUSALS[outcome]();
    },
  };
}

class Access<User> {
  readonly #options: AccessOptions<User>;
  readonly #users: ReviewCache<User>;
  readonly #rights: ReviewCache<true>;
  #isAnswering = true;

  constructor(options: AccessOptions<User>) {
    const { clock, signal } = options;
    const budget = new RateBudget(clock, REFUSED);
    this.#options = options;
    this.#users = new ReviewCache(clock, budget, signal);
    this.#rights = new ReviewCache(clock, budget, signal);
  }

  async review(request: Request, path: string): Promise<Outcome> {
    const [, token] = BEARER.exec(request.headers.get("authorization") ?? "") ?? [];
    if (token === undefined) return "unauthorized";
    try {
      const outcome = await this.#ask(token, path);
      this.#noteAnswer();
      return outcome;
    } catch (error) {
      if (error instanceof TooManyQuestions) return "tooMany";
      this.#noteSilence(error);
      return "unavailable";
    }
  }

  async #ask(token: string, path: string): Promise<Outcome> {
    const { reviewer } = this.#options;
    const user = await this.#users.ask(toHash(token), (signal) =>
      reviewer.authenticate(token, signal),
    );
    if (user.kind === "refused") return "notAccepted";
    const access = { path, verb: "get" } as const;
    const key = toHash(JSON.stringify([user.value, access]));
    const right = await this.#rights.ask(key, async (signal) =>
      (await reviewer.authorize(user.value, access, signal)) ? true : undefined,
    );
    return right.kind === "granted" ? "allowed" : "forbidden";
  }

  #noteAnswer(): void {
    if (this.#isAnswering) return;
    this.#isAnswering = true;
    this.#options.log.info("Access review works again; allowing access to /metrics and /debug");
  }

  #noteSilence(error: unknown): void {
    if (!this.#isAnswering) return;
    this.#isAnswering = false;
    this.#options.log.warn("Access review failed; denying access to /metrics and /debug", {
      error,
    });
  }
}

const REFUSALS: Readonly<Record<Exclude<Outcome, "allowed">, () => Response>> = {
  unauthorized: () => toUnauthorized("give a token as Authorization: Bearer"),
  notAccepted: () => toUnauthorized("the API server does not accept this token"),
  forbidden: () => toRefusal(403, "forbidden: your user has no right to get this path"),
  tooMany: () =>
    toRefusal(429, "too many refused requests; try again later", { "retry-after": RETRY_SECONDS }),
  unavailable: () =>
    toRefusal(503, "the access review failed; try again later", {
      "retry-after": RETRY_SECONDS,
    }),
};

function toUnauthorized(why: string): Response {
  return toRefusal(401, `unauthorized: ${why}`, { "www-authenticate": 'Bearer realm="landfall"' });
}

function toRefusal(
  status: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return new Response(`${message}\n`, {
    status,
    headers: { ...headers, "cache-control": "no-store" },
  });
}

/** The decoded path, as routes and roles read it; `undefined` if they could read it in different ways. */
function toPath(url: string): string | undefined {
  try {
    const path = decodeURI(new URL(url).pathname);
    // An encoded slash or percent sign: some programs decode it, others do not.
    return path.includes("%") ? undefined : path;
  } catch {
    return undefined;
  }
}

function isMatch(path: string, pattern: string): boolean {
  if (pattern.endsWith("*")) return path.startsWith(pattern.slice(0, -1));
  return path === pattern || (PROBES.has(pattern) && path.startsWith(`${pattern}/`));
}

function toHash(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}
