/**
 * The `exec` part of a kubeconfig user: a command that prints credentials, and its input.
 * Source: https://kubernetes.io/docs/reference/config-api/client-authentication.v1/
 * @module
 */
import { dirname, resolve } from "node:path";
import type { ConfigError } from "../../core/errors.ts";
import { quote } from "../../core/text/printable.ts";
import { isPathLike, SECRET_LENGTH_MIN } from "../../core/text/redact.ts";
import { mustBe } from "../../core/text/must_be.ts";
import { type SettingPlace, toConfigError } from "./problem.ts";
import type { Section } from "./section.ts";

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
export function toCommandError(
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
