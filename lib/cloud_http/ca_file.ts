/**
 * Reads a file of certificate authorities again while Landfall runs, because certificates are replaced.
 * @module
 */
import { CertificateError, parseCertificates } from "../core/http/connection.ts";
import type { Clock } from "../core/clock.ts";
import { ConfigError, describeError } from "../core/errors.ts";
import {
  describeFileProblem,
  readSmallText,
  readSmallTextSync,
  toTriedPath,
} from "../core/small_file.ts";
import { type Logger, MessageDedup } from "../core/log.ts";
import { isPathLike } from "../core/text/printable.ts";

/** Landfall must use a change within a minute; this is half of it. */
const PERIOD_MS = 30_000;

/** What a {@linkcode CaFile} needs. */
interface CaFileDeps {
  readonly clock: Clock;
  readonly log: Logger;
  /** Name of the setting that contains the path. */
  readonly setting: string;
}

/**
 * The certificate authorities in a PEM file. Reads it again at most twice a minute, and on request.
 *
 * Guarantees: the text that {@linkcode read} returns contains only valid certificates. If the file is broken or
 * missing, the last good content stays in use, and the log reports the problem once.
 */
export class CaFile {
  readonly #path: string;
  readonly #deps: CaFileDeps;
  #pem: string;
  #readAtMs: number;
  readonly #reported = new MessageDedup();

  /** @throws {ConfigError} when the file cannot be read, or one of its certificates is not valid */
  constructor(path: string, deps: CaFileDeps) {
    this.#path = path;
    this.#deps = deps;
    this.#readAtMs = deps.clock.monotonic();
    try {
      this.#pem = this.#toCertificates(readSmallTextSync(path));
    } catch (error) {
      throw error instanceof ConfigError ? error : this.#toUnreadable(error);
    }
  }

  /** Returns the certificates as PEM, without other text. */
  async read(): Promise<string> {
    if (this.#deps.clock.monotonic() - this.#readAtMs >= PERIOD_MS) await this.reload();
    return this.#pem;
  }

  /** Reads the file now. */
  async reload(): Promise<void> {
    const { clock, log, setting } = this.#deps;
    const about = { path: this.#path };
    this.#readAtMs = clock.monotonic();
    try {
      const text = await readSmallText(this.#path).catch((error: unknown) => {
        throw this.#toUnreadable(error);
      });
      const pem = this.#toCertificates(text);
      if (pem !== this.#pem) log.info("The certificate authorities changed", about);
      this.#pem = pem;
      this.#reported.end();
    } catch (error) {
      const problem = describeError(error);
      if (!this.#reported.isNew(problem)) return;
      const message = `Cannot use the changed ${setting}; still using the last good one`;
      log.warn(message, { ...about, problem });
    }
  }

  /** Returns only the certificates. Bun reports a bad certificate as a wrong address, so this checks them first. */
  #toCertificates(text: string): string {
    try {
      return parseCertificates(text).join("").trimEnd();
    } catch (error) {
      if (error instanceof CertificateError) throw this.#toProblem(error.message);
      throw error;
    }
  }

  #toUnreadable(cause: unknown): ConfigError {
    return this.#toProblem(`cannot be read: ${describeFileProblem(cause)}`, cause);
  }

  #toProblem(message: string, cause?: unknown): ConfigError {
    const isPath = isPathLike(this.#path);
    const shown = isPath
      ? `${toTriedPath(this.#path)}: ${message}`
      : `the file that it names ${message}`;
    // The system error repeats the path.
    return new ConfigError([{ path: this.#deps.setting, message: shown }], isPath ? { cause } : {});
  }
}
