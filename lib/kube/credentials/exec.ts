/**
 * The `exec` part of a kubeconfig user: a command that prints credentials. Sources:
 * https://kubernetes.io/docs/reference/config-api/client-authentication.v1/ and
 * https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins
 * @module
 */
import { execFile } from "node:child_process";
import { access, constants, stat } from "node:fs/promises";
import { delimiter, dirname, resolve } from "node:path";
import { promisify } from "node:util";
import type { Clock } from "../../core/clock.ts";
import type { ConfigError } from "../../core/errors.ts";
import { mustBe } from "../../core/text/values.ts";
import { isPathLike, quote, SECRET_LENGTH_MIN } from "../../core/text/printable.ts";
import type { LoadedCredential } from "./credentials.ts";
import { checkKeyPair, checkToken, Section, type SettingPlace, toConfigError } from "./setting.ts";

/** A checked command. */
export interface ExecSpec {
  /** `client.authentication.k8s.io/v1` or `…/v1beta1`; the answer must have the same. */
  readonly apiVersion: string;
  /** Name to find on PATH, or a path. */
  readonly command: string;
  readonly args: readonly string[];
  /** Added to the environment of the process. */
  readonly env: Readonly<Record<string, string>>;
  /** What to do if the command does not exist. */
  readonly installHint?: string;
  /** The description of the cluster that the plugin gets, if it asks for one. */
  readonly cluster?: Readonly<Record<string, unknown>>;
  readonly place: SettingPlace;
}

/**
 * The error about the command of a plugin, with the install hint.
 *
 * @param place The place of the setting
 * @param problem Follows the command: `does not exist`
 */
function toCommandError(
  { command, installHint }: Pick<ExecSpec, "command" | "installHint">,
  place: SettingPlace,
  problem: string,
): ConfigError {
  const hint = installHint === undefined ? "" : ` (${installHint.trim()})`;
  return toConfigError(place, `command ${quoteCommand(command)} ${problem}${hint}`);
}

/** A command for messages. Text after a blank belongs in `args`, and may be a secret. */
function quoteCommand(command: string): string {
  const [name = "", ...more] = command.split(/\s/);
  const isOdd = /[?@=]/.test(name) || (name.length >= SECRET_LENGTH_MIN && !isPathLike(name));
  if (isOdd) return "(not shown here)";
  return quote(more.length === 0 ? name : `${name} …`);
}

/** The cluster for the plugin. */
interface ExecTarget {
  readonly cluster: Section;
  readonly server: string;
  readonly ca?: string | undefined;
}

const GROUP = "client.authentication.k8s.io/";
const API_VERSIONS = [`${GROUP}v1`, `${GROUP}v1beta1`];
const EXTENSION = `${GROUP}exec`;

/**
 * Reads an `exec` section.
 *
 * @throws {ConfigError} for an unknown API version, or a plugin that needs a terminal
 */
export function toExecSpec(exec: Section, target: ExecTarget): ExecSpec {
  const apiVersion = exec.required("apiVersion");
  if (!API_VERSIONS.includes(apiVersion)) {
    const found = apiVersion.startsWith(GROUP) ? quote(apiVersion) : undefined;
    throw toConfigError(exec.place("apiVersion"), mustBe(API_VERSIONS.join(" or "), found));
  }
  const mode = exec.string("interactiveMode") ?? "IfAvailable";
  if (!["Never", "IfAvailable", "Always"].includes(mode)) {
    throw toConfigError(exec.place("interactiveMode"), mustBe("Never, IfAvailable or Always"));
  }
  if (mode === "Always") {
    throw toConfigError(
      exec.place("interactiveMode"),
      "the plugin needs a terminal, but Landfall has none",
    );
  }
  const command = exec.required("command");
  const installHint = exec.string("installHint");
  return {
    apiVersion,
    // Only a name without a slash is searched on PATH. A path is relative to the kubeconfig.
    command: command.includes("/") ? resolve(dirname(exec.source), command) : command,
    args: exec.strings("args"),
    env: Object.fromEntries(
      exec.sections("env").map((one) => [one.required("name"), one.string("value") ?? ""]),
    ),
    ...(installHint !== undefined && { installHint }),
    ...(exec.boolean("provideClusterInfo") && { cluster: toClusterInfo(target) }),
    place: exec.place(),
  };
}

/** YAML aliases may create a value that contains itself. It cannot be sent to the plugin. */
function checkJson(value: unknown, place: SettingPlace): void {
  try {
    JSON.stringify(value);
  } catch {
    throw toConfigError(place, "the extension for the plugin cannot be written as JSON");
  }
}

function toClusterInfo({ cluster, server, ca }: ExecTarget): Record<string, unknown> {
  const serverName = cluster.string("tls-server-name");
  const proxy = cluster.string("proxy-url");
  const config = cluster
    .sections("extensions")
    .find((one) => one.string("name") === EXTENSION)
    ?.raw("extension");
  checkJson(config, cluster.place("extensions"));
  return {
    server,
    ...(serverName !== undefined && { "tls-server-name": serverName }),
    ...(cluster.boolean("insecure-skip-tls-verify") && { "insecure-skip-tls-verify": true }),
    ...(ca !== undefined && {
      "certificate-authority-data": Buffer.from(ca, "utf8").toString("base64"),
    }),
    ...(proxy !== undefined && { "proxy-url": proxy }),
    ...(config !== undefined && { config }),
  };
}

/**
 * Looks for the command of a plugin, without running it.
 *
 * @param spec The command: a path, or a name to find on PATH
 * @param env Environment of the command. Without PATH in it, a name is not checked
 * @throws {ConfigError} with file, field and command, and the plugin's install hint
 */
export async function checkExecCommand(
  spec: ExecSpec,
  env: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const { command, place } = spec;
  const path = spec.env["PATH"] ?? env["PATH"];
  const isPath = command.includes("/");
  if (!isPath && path === undefined) return;
  const files = isPath
    ? [command]
    : (path ?? "").split(delimiter).map((folder) => resolve(folder, command));
  const states = await Promise.all(files.map(examine));
  if (states.includes("usable")) return;
  const found = states.includes("blocked") ? "is not executable" : "does not exist";
  const where = isPath || found !== "does not exist" ? "" : " in any folder of PATH";
  const field = [place.path, "command"].filter((part) => part).join(".");
  throw toCommandError(spec, { ...place, path: field }, `${found}${where}`);
}

async function examine(file: string): Promise<"usable" | "blocked" | "absent"> {
  try {
    if (!(await stat(file)).isFile()) return "absent";
  } catch {
    return "absent";
  }
  return access(file, constants.X_OK).then(
    () => "usable",
    () => "blocked",
  );
}

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

/** Runs the plugin of a user, and keeps its last answer. */
export class ExecPlugin {
  readonly #options: ExecPluginOptions;
  #last: { readonly settings: string; readonly answer: ExecAnswer } | undefined;

  constructor(options: ExecPluginOptions) {
    this.#options = options;
  }

  /**
   * The last answer while it is valid, else that of a new run. The answer to other settings does not count.
   *
   * @param fresh Whether to forget the last answer, because the server did not accept it
   * @throws {ConfigError} with the plugin and the problem; never with its output, which may contain the token
   */
  async read(spec: ExecSpec, fresh: boolean): Promise<ExecAnswer> {
    const settings = JSON.stringify(spec);
    if (!fresh && this.#last?.settings === settings) {
      const { answer } = this.#last;
      if (this.#options.clock.now() < (answer.expiresAtMs ?? Infinity)) return answer;
    }
    const answer = parseAnswer(await this.#run(spec), spec);
    this.#last = { settings, answer };
    return answer;
  }

  async #run(exec: ExecSpec): Promise<string> {
    const { apiVersion, command, args, cluster, place, env } = exec;
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
      throw toCommandError(exec, place, toFailure(error, timeoutMs));
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
