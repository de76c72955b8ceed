/**
 * A file of certificate authorities that is replaced now and then.
 * @module
 */
import { CertificateError, parseCertificates } from "../../../core/net/certificates.ts";
import type { Clock } from "../../../core/clock.ts";
import { ConfigError, describeError } from "../../../core/errors.ts";
import { describeFileProblem } from "../../../core/file_problem.ts";
import type { Logger } from "../../../core/log.ts";
import { isPathLike } from "../../../core/text/redact.ts";
import { readSmallText, readSmallTextSync } from "../../../core/small_file.ts";

/** Half of the minute within which a change must be in use. */
const PERIOD_MS = 30_000;

/**
 * Authorities in a PEM file, read again at most twice a minute, and whenever somebody asks for it.
 *
 * Guarantees: what {@linkcode read} gives can be decoded; a file that is broken or away leaves the last good one in
 * use, and is told of once.
 */
export class CaFile {
  readonly #path: string;
  readonly #clock: Clock;
  readonly #log: Logger;
  #pem: string;
  #readAtMs: number;
  /** What was told last; empty when the file was good. */
  #told = "";

  /** @throws {ConfigError} when the file cannot be read, or one of its certificates is not valid */
  constructor(path: string, { clock, log }: { readonly clock: Clock; readonly log: Logger }) {
    this.#path = path;
    this.#clock = clock;
    this.#log = log;
    this.#readAtMs = clock.monotonic();
    try {
      this.#pem = toCertificates(path, readSmallTextSync(path));
    } catch (error) {
      throw error instanceof ConfigError ? error : toUnreadable(path, error);
    }
  }

  /** The certificates, PEM only. */
  async read(): Promise<string> {
    if (this.#clock.monotonic() - this.#readAtMs >= PERIOD_MS) await this.reload();
    return this.#pem;
  }

  /** Reads the file now. */
  async reload(): Promise<void> {
    this.#readAtMs = this.#clock.monotonic();
    try {
      const text = await readSmallText(this.#path).catch((error: unknown) => {
        throw toUnreadable(this.#path, error);
      });
      const pem = toCertificates(this.#path, text);
      if (pem !== this.#pem) this.#log.info("The certificate authorities changed", this.#about);
      this.#pem = pem;
      this.#told = "";
    } catch (error) {
      const problem = describeError(error);
      if (problem === this.#told) return;
      this.#told = problem;
      const message = "Cannot use the changed caFile, the last good one stays in use";
      this.#log.warn(message, { ...this.#about, problem });
    }
  }

  get #about(): { path: string } {
    return { path: this.#path };
  }
}

/** The certificates alone. Bun reports a bad one as a wrong address, so they are looked at first. */
function toCertificates(path: string, text: string): string {
  try {
    return parseCertificates(text).join("").trimEnd();
  } catch (error) {
    if (error instanceof CertificateError) throw toProblem(path, error.message);
    throw error;
  }
}

function toUnreadable(path: string, cause: unknown): ConfigError {
  return toProblem(path, `cannot be read: ${describeFileProblem(cause)}`, cause);
}

function toProblem(path: string, message: string, cause?: unknown): ConfigError {
  const shown = isPathLike(path) ? `${path}: ${message}` : `what it names ${message}`;
  // The system repeats the path.
  return new ConfigError([{ path: "caFile", message: shown }], isPathLike(path) ? { cause } : {});
}
