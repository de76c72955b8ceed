/**
 * Runs a command that prints credentials, and keeps its answer until it expires.
 * Source: https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins
 * @module
 */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Clock } from "../../core/clock.ts";
import { mustBe } from "../../core/text/must_be.ts";
import type { LoadedCredential } from "./credentials.ts";
import { type ExecSpec, toCommandError } from "./exec_spec.ts";
import { toConfigError } from "./problem.ts";
import { Section } from "./section.ts";
import { checkKeyPair } from "./tls.ts";
import { checkToken } from "./token.ts";

/** The credentials from a plugin. The authorities stay those of the cluster. */
type ExecAnswer = Pick<LoadedCredential, "tls" | "expiresAtMs"> & {
  readonly headers: Readonly<Record<string, string>>;
};

/** Settings of an {@linkcode ExecPlugin}. */
interface ExecPluginOptions {
  /** Environment of the command. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /** Longest run in milliseconds, real time. Then the command is killed. */
  readonly timeoutMs: number;
}

/** Most bytes a plugin may print. */
const OUTPUT_BYTES_MAX = 1024 * 1024;
const run = promisify(execFile);

/** One plugin and its last answer. */
export class ExecPlugin {
  readonly #spec: ExecSpec;
  readonly #options: ExecPluginOptions;
  #answer: ExecAnswer | undefined;

  constructor(spec: ExecSpec, options: ExecPluginOptions) {
    this.#spec = spec;
    this.#options = options;
  }

  /**
   * The last answer while it is valid, else that of a new run.
   *
   * @param fresh Whether to forget the last answer, because the server did not accept it
   * @throws {ConfigError} with the plugin and the problem; never with its output, which may contain the token
   */
  async read(fresh: boolean): Promise<ExecAnswer> {
    const { clock } = this.#options;
    if (!fresh && this.#answer !== undefined) {
      if (clock.now() < (this.#answer.expiresAtMs ?? Infinity)) return this.#answer;
    }
    this.#answer = parseAnswer(await this.#run(), this.#spec);
    return this.#answer;
  }

  async #run(): Promise<string> {
    const { apiVersion, command, args, cluster, place, env } = this.#spec;
    const spec = { interactive: false, ...(cluster !== undefined && { cluster }) };
    const info = JSON.stringify({ kind: "ExecCredential", apiVersion, spec });
    const { timeoutMs } = this.#options;
    try {
      const pending = run(command, [...args], {
        env: { ...this.#options.env, ...env, KUBERNETES_EXEC_INFO: info },
        encoding: "utf8",
        maxBuffer: OUTPUT_BYTES_MAX,
        timeout: timeoutMs,
        killSignal: "SIGKILL",
        shell: false,
      });
      pending.child.stdin?.end();
      return (await pending).stdout;
    } catch (error) {
      throw toCommandError(this.#spec, place, toFailure(error, timeoutMs));
    }
  }
}

/** Decodes an ExecCredential. */
function parseAnswer(text: string, { apiVersion, place }: ExecSpec): ExecAnswer {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw toConfigError(place, "the plugin's answer is not JSON");
  }
  const answer = new Section(value, place.source, `${place.path ?? ""}: answer`);
  if (answer.string("kind") !== "ExecCredential" || answer.string("apiVersion") !== apiVersion) {
    throw toConfigError(place, `the plugin's answer is not an ExecCredential of ${apiVersion}`);
  }
  const status = answer.section("status");
  const token = status.string("token");
  const cert = status.string("clientCertificateData");
  const key = status.string("clientKeyData");
  if ((cert === undefined) !== (key === undefined)) {
    throw toConfigError(
      place,
      "the plugin printed only one of certificate and key; it must print both",
    );
  }
  if (token === undefined && cert === undefined) {
    throw toConfigError(place, "the plugin printed neither a token nor a client certificate");
  }
  const pair =
    cert === undefined || key === undefined
      ? {}
      : checkKeyPair(
          { pem: cert, place: status.place("clientCertificateData") },
          { pem: key, place: status.place("clientKeyData") },
        );
  const expiresAtMs = readExpiry(status);
  return {
    headers:
      token === undefined
        ? {}
        : { authorization: `Bearer ${checkToken(token.trim(), status.place("token"))}` },
    tls: pair,
    ...(expiresAtMs !== undefined && { expiresAtMs }),
  };
}

function readExpiry(status: Section): number | undefined {
  const text = status.string("expirationTimestamp");
  if (text === undefined) return undefined;
  const time = Date.parse(text);
  if (Number.isNaN(time)) {
    throw toConfigError(status.place("expirationTimestamp"), mustBe("a time of RFC 3339"));
  }
  return time;
}

function toFailure(error: unknown, timeoutMs: number): string {
  const { code, killed } = Object(error) as Record<string, unknown>;
  if (code === "ENOENT") return "does not exist";
  if (code === "EACCES") return "is not executable";
  if (code === "ERR_CHILD_PROCESS_STDIO_MAXBUFFER") return "printed more than 1 MiB";
  if (killed === true) return `did not end within ${timeoutMs / 1000} s`;
  const ended = typeof code === "number" ? `ended with code ${code}` : "failed";
  return `${ended}; run it by hand to see why, because Landfall does not show its output`;
}
