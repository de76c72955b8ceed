/**
 * Tokens: as given, from a file that changes, or minted with a user's password and renewed.
 * @module
 */
import { CloudError } from "../../../cloud/errors.ts";
import { abortable } from "../../../core/abortable.ts";
import { toBackoffMs } from "../../../core/backoff.ts";
import type { Clock } from "../../../core/clock.ts";
import { formatDuration } from "../../../core/text/duration.ts";
import { ConfigError } from "../../../core/errors.ts";
import { describeFileProblem } from "../../../core/file_problem.ts";
import type { Logger } from "../../../core/log.ts";
import { News } from "../../../core/news.ts";
import { isPathLike } from "../../../core/text/redact.ts";
import { readSmallText, readSmallTextSync } from "../../../core/small_file.ts";
import { explainToken } from "../settings/text_forms.ts";

/** Where the token of a request comes from. */
export interface TokenSource {
  /**
   * The token to use now.
   *
   * @throws {CloudError} when there is none
   */
  read(signal: AbortSignal): Promise<string>;
  /**
   * Records that Xen Orchestra refused a token.
   *
   * @returns Whether there may be another one, so that trying again makes sense
   */
  refuse(token: string): Promise<boolean>;
}

/** A token that never changes. */
export function createFixedToken(token: string): TokenSource {
  return { read: () => Promise.resolve(token), refuse: () => Promise.resolve(false) };
}

const FILE_PERIOD_MS = 1_000;
/** A file that is missing for longer than this is not just being replaced. */
const AWAY_MS = 60_000;

/**
 * A token in a file, read again at most once a second, and each time the server refuses the token. If the file is
 * missing or holds no token, the last token stays in use and one warning is logged. A file that is missing or empty is
 * reported only after a minute, because it is so for a moment while a Secret is replaced.
 */
export class FileToken implements TokenSource {
  readonly #path: string;
  readonly #clock: Clock;
  readonly #log: Logger;
  #token: string;
  #readAtMs: number;
  readonly #news = new News();
  /** Since when the file is missing or empty, in monotonic milliseconds; infinite when it is not. */
  #awaySinceMs = Infinity;

  /** @throws {ConfigError} when the file cannot be read, or holds no token */
  constructor(path: string, { clock, log }: { readonly clock: Clock; readonly log: Logger }) {
    this.#path = path;
    this.#clock = clock;
    this.#log = log;
    let text: string;
    try {
      text = readSmallTextSync(path).trim();
    } catch (cause) {
      throw toFileError(path, `cannot be read: ${describeFileProblem(cause)}`, cause);
    }
    const problem = text === "" ? "is empty" : explainToken(text);
    if (problem !== undefined) throw toFileError(path, problem);
    this.#token = text;
    this.#readAtMs = clock.monotonic();
  }

  async read(): Promise<string> {
    if (this.#clock.monotonic() - this.#readAtMs >= FILE_PERIOD_MS) await this.#reload();
    return this.#token;
  }

  async refuse(token: string): Promise<boolean> {
    await this.#reload();
    return this.#token !== token;
  }

  async #reload(): Promise<void> {
    const nowMs = this.#clock.monotonic();
    this.#readAtMs = nowMs;
    const { text, problem } = await readTokenFile(this.#path);
    if (problem === "") this.#token = text;
    this.#awaySinceMs = text === "" ? Math.min(this.#awaySinceMs, nowMs) : Infinity;
    if (text === "" && nowMs - this.#awaySinceMs < AWAY_MS) return;
    if (problem === "") this.#news.end();
    else if (this.#news.isNew(problem)) {
      const fields = { path: this.#path, problem };
      this.#log.warn("Cannot use the changed tokenFile; still using the last good token", fields);
    }
  }
}

/** What a file holds, and what is wrong with it; an empty text if it is missing or empty. */
async function readTokenFile(path: string): Promise<{ text: string; problem: string }> {
  try {
    const text = (await readSmallText(path)).trim();
    return { text, problem: text === "" ? "is empty" : (explainToken(text) ?? "") };
  } catch (error) {
    return { text: "", problem: `cannot be read: ${describeFileProblem(error)}` };
  }
}

/** A text that does not look like a path is not repeated: operators write the token itself there. */
function toFileError(path: string, problem: string, cause?: unknown): ConfigError {
  const message = isPathLike(path)
    ? `${path}: ${problem}`
    : `${problem}; give the path of a file, or write the token itself into token`;
  // The system repeats the path.
  return new ConfigError([{ path: "tokenFile", message }], isPathLike(path) ? { cause } : {});
}

/** A token and how long it lives, in wall-clock milliseconds. */
export interface Minted {
  readonly token: string;
  /** Absent when the server does not tell. */
  readonly expiresAtMs?: number;
}

/** What a {@linkcode MintedToken} needs. */
export interface MintedTokenOptions {
  /** Gets a token with the password, in one try. The same client ID gets the same token with a new expiry. */
  readonly mint: () => Promise<Minted>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Xen Orchestra refuses a password within 2 s of a wrong one; every try costs it up to 0.7 s of processor time. */
const MINT_BACKOFF = { baseMs: 2_500, capMs: 300_000, jitter: 0.1 };
/** Renewal begins when a third of the life is left, and never sooner than this after the last. */
const RENEW_MS_MIN = 60_000;

/**
 * A token that is minted when first needed, renewed before it expires, and minted again when refused.
 *
 * Guarantees: one try at a time for all callers; never two within 2.5 s; after a failed renewal the token stays in use.
 */
export class MintedToken implements TokenSource {
  readonly #options: MintedTokenOptions;
  #current: (Required<Minted> & { readonly renewAtMs: number }) | undefined;
  #minting: Promise<string> | undefined;
  #failures = 0;
  #nextTryMs = -Infinity;
  #lastError: CloudError | undefined;

  constructor(options: MintedTokenOptions) {
    this.#options = options;
  }

  async read(signal: AbortSignal): Promise<string> {
    const current = this.#current;
    const now = this.#options.clock.now();
    if (current && now < current.expiresAtMs) {
      // Renewal continues in the background, which logs its failure.
      if (now >= current.renewAtMs && this.#mayTry()) this.#start().catch(() => {});
      return current.token;
    }
    return await abortable(this.#start(), signal);
  }

  refuse(token: string): Promise<boolean> {
    if (this.#current?.token === token) this.#current = undefined;
    return Promise.resolve(this.#current !== undefined || this.#mayTry());
  }

  #mayTry(): boolean {
    return this.#minting !== undefined || this.#options.clock.monotonic() >= this.#nextTryMs;
  }

  #start(): Promise<string> {
    if (!this.#mayTry()) {
      const { kind = "denied", message = "Xen Orchestra refuses the token that it just issued" } =
        this.#lastError ?? {};
      const retryAfterMs = this.#nextTryMs - this.#options.clock.monotonic();
      return Promise.reject(new CloudError(kind, message, { retryAfterMs }));
    }
    this.#minting ??= this.#mint().finally(() => (this.#minting = undefined));
    return this.#minting;
  }

  async #mint(): Promise<string> {
    const { mint, clock, log } = this.#options;
    this.#nextTryMs = clock.monotonic() + MINT_BACKOFF.baseMs;
    try {
      const { token, expiresAtMs = Infinity } = await mint();
      const now = clock.now();
      // A new token is good: if it seems to have expired already, one of the two clocks is wrong. Then a refusal
      // decides.
      const endsAtMs = expiresAtMs > now ? expiresAtMs : Infinity;
      const lifeMs = endsAtMs - now;
      const renewAtMs = now + Math.max(RENEW_MS_MIN, (lifeMs * 2) / 3);
      this.#current = { token, expiresAtMs: endsAtMs, renewAtMs };
      this.#failures = 0;
      this.#lastError = undefined;
      const life = Number.isFinite(lifeMs) ? formatDuration(Math.round(lifeMs)) : undefined;
      log.info("Got a token from Xen Orchestra", { life });
      return token;
    } catch (error) {
      this.#failures += 1;
      if (error instanceof CloudError) this.#lastError = error;
      this.#nextTryMs = clock.monotonic() + toBackoffMs(this.#failures, MINT_BACKOFF);
      log.warn("Cannot get a token from Xen Orchestra", { failures: this.#failures, error });
      throw error;
    }
  }
}
