/**
 * The keys that sign requests: as given, or from two files that change.
 * @module
 */
import {
  explainSecret,
  type FileProblem,
  FileProblems,
} from "../../../cloud/settings/secret_file.ts";
import type { Clock } from "../../../core/clock.ts";
import { ConfigError, type ConfigIssue } from "../../../core/errors.ts";
import { describeFileProblem, readSmallText, readSmallTextSync } from "../../../core/small_file.ts";
import type { Logger } from "../../../core/log.ts";
import { isPathLike } from "../../../core/text/printable.ts";

/** An API key, and the secret that belongs to it. */
export interface KeyPair {
  readonly apiKey: string;
  /** Never sent. */
  readonly secretKey: string;
}

/** Where the keys of a request come from. */
export interface KeySource {
  /** The keys to use now. */
  read(): Promise<KeyPair>;
  /**
   * Records that CloudStack refused a pair.
   *
   * @returns Whether there is another pair now, so that trying again makes sense
   */
  refuse(pair: KeyPair): Promise<boolean>;
}

/** A pair that never changes. */
export function createFixedKeys(pair: KeyPair): KeySource {
  return { read: () => Promise.resolve(pair), refuse: () => Promise.resolve(false) };
}

/** The paths of both files. */
interface KeyPaths {
  readonly apiKeyFile: string;
  readonly secretKeyFile: string;
}

/** What {@linkcode KeyFiles} need. */
interface KeyFilesOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** Called each time another pair comes into use, before it is used. @default {nothing} */
  readonly onChange?: () => void;
}

const PERIOD_MS = 1_000;

/**
 * Keys in two files, read again at most once a second, and each time the server refuses them.
 *
 * Guarantees: a new pair is used when both files changed, because one file may be replaced before the other. If only
 * one changed, the mixed pair is tried when the server refuses the pair in use. If a file is missing or holds no key,
 * the last pair stays in use and one warning is logged; for a missing or empty file after a minute.
 */
export class KeyFiles implements KeySource {
  readonly #paths: KeyPaths;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #onChange: () => void;
  #pair: KeyPair;
  /** What the files hold if only one of them differs from the pair in use. */
  #mixed: KeyPair | undefined;
  #readAtMs: number;
  readonly #problems: FileProblems;

  /** @throws {ConfigError} when a file cannot be read, or holds no key: with the problems of both */
  constructor(paths: KeyPaths, { clock, log, onChange = () => {} }: KeyFilesOptions) {
    this.#paths = paths;
    this.#clock = clock;
    this.#problems = new FileProblems(clock);
    this.#log = log;
    this.#onChange = onChange;
    const apiKey = readFirst("apiKeyFile", paths.apiKeyFile);
    const secretKey = readFirst("secretKeyFile", paths.secretKeyFile);
    const issues = [apiKey, secretKey].flatMap((one) => ("issue" in one ? [one.issue] : []));
    if ("issue" in apiKey || "issue" in secretKey) throw new ConfigError(issues);
    this.#pair = { apiKey: apiKey.key, secretKey: secretKey.key };
    this.#readAtMs = clock.monotonic();
  }

  async read(): Promise<KeyPair> {
    if (this.#clock.monotonic() - this.#readAtMs >= PERIOD_MS) await this.#reload();
    return this.#pair;
  }

  async refuse(pair: KeyPair): Promise<boolean> {
    await this.#reload();
    if (this.#pair === pair && this.#mixed !== undefined) this.#use(this.#mixed);
    return this.#pair !== pair;
  }

  async #reload(): Promise<void> {
    this.#readAtMs = this.#clock.monotonic();
    const [one, other] = await Promise.all([
      readAgain(this.#paths.apiKeyFile),
      readAgain(this.#paths.secretKeyFile),
    ]);
    const problem = "problem" in one ? one : "problem" in other ? other : undefined;
    if ("key" in one && "key" in other) this.#learn({ apiKey: one.key, secretKey: other.key });
    const report = this.#problems.findNew(problem);
    if (report !== undefined) {
      const fields = { path: report.path, problem: report.problem };
      this.#log.warn("Cannot use a changed key file; still using the last good keys", fields);
    }
  }

  #learn(found: KeyPair): void {
    const isApiKeyNew = found.apiKey !== this.#pair.apiKey;
    const isSecretNew = found.secretKey !== this.#pair.secretKey;
    if (isApiKeyNew && isSecretNew) this.#use(found);
    else this.#mixed = isApiKeyNew || isSecretNew ? found : undefined;
  }

  #use(pair: KeyPair): void {
    this.#pair = pair;
    this.#mixed = undefined;
    this.#log.info("The keys changed", { ...this.#paths });
    this.#onChange();
  }
}

function readFirst(setting: string, path: string): { key: string } | { issue: ConfigIssue } {
  const toIssue = (problem: string): { issue: ConfigIssue } => {
    // Operators write the key itself there: a text that does not look like a path is not repeated.
    const shown = isPathLike(path) ? `${path}: ${problem}` : `the file that it names ${problem}`;
    return { issue: { path: setting, message: shown } };
  };
  try {
    const key = readSmallTextSync(path).trim();
    const problem = explainSecret(key);
    return problem === undefined ? { key } : toIssue(problem);
  } catch (error) {
    return toIssue(`cannot be read: ${describeFileProblem(error)}`);
  }
}

interface KeyProblem extends FileProblem {
  readonly path: string;
}

async function readAgain(path: string): Promise<{ readonly key: string } | KeyProblem> {
  try {
    const key = (await readSmallText(path)).trim();
    const problem = explainSecret(key);
    return problem === undefined ? { key } : { path, problem, isAway: key === "" };
  } catch (error) {
    const problem = `cannot be read: ${describeFileProblem(error)}`;
    return { path, problem, isAway: true };
  }
}
