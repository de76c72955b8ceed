/**
 * The files that the demo writes for kubectl and `landfall` in another terminal, and lines to paste there.
 * @module
 */
import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { findErrorCode } from "../../core/net/connection_problem.ts";
import { ConfigError, describeError } from "../../core/errors.ts";
import { isCompiled, type ReplaceableProcess } from "../../host/runtime.ts";
import { formatListenAddress, type ListenAddress } from "../../http/sockets/listen_address.ts";
import { DEFAULT_DEBUG_ADDRESS } from "../flags/common.ts";

/** Paths of the files. */
export interface DemoFiles {
  readonly kubeconfig: string;
  /** A shell reads it, so that `kubectl` and `landfall` without flags use the demo. */
  readonly env: string;
}

/** What a client of the demo needs. */
export interface DemoEndpoints {
  /** URL of the simulated API server. */
  readonly kubernetes: string;
  readonly cloud: { readonly url: string; readonly token: string };
}

/** The process that runs the demo: the other terminal runs the same program. */
type DemoProcess = Pick<ReplaceableProcess, "execPath" | "argv">;

/**
 * Writes both files, readable by this user only. Never overwrites a file: it may be the kubeconfig of a real cluster.
 *
 * @throws {ConfigError} when a file exists or cannot be written
 */
export async function writeDemoFiles(
  files: DemoFiles,
  endpoints: DemoEndpoints,
  process: DemoProcess,
): Promise<void> {
  await writeNew(files.kubeconfig, toKubeconfig(endpoints.kubernetes));
  const { url, token } = endpoints.cloud;
  const lines = [
    ...Object.entries({ KUBECONFIG: files.kubeconfig, XOA_URL: url, XOA_TOKEN: token }).map(
      ([name, value]) => `export ${name}=${quote(value)}`,
    ),
    `alias landfall=${quote(toProgram(process).map(quote).join(" "))}`,
  ];
  await writeNew(files.env, lines.map((line) => `${line}\n`).join(""));
}

/** The line that makes a shell use the demo. */
export function toEnvCommand({ env }: DemoFiles): string {
  return `. ${quote(env)}`;
}

/** A line that shows the Nodes as the controllers of the demo see them. */
export function toNodesCommand(address: ListenAddress): string {
  const text = formatListenAddress(address);
  return text === DEFAULT_DEBUG_ADDRESS
    ? "landfall nodes"
    : `landfall nodes ${quote(`--debug-address=${text}`)}`;
}

/** Its words, from any folder. */
function toProgram({ execPath, argv }: DemoProcess): string[] {
  const [, main = ""] = argv;
  return isCompiled(argv) || main === "" ? [execPath] : [execPath, resolve(main)];
}

async function writeNew(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text, { mode: 0o600, flag: "wx" });
  } catch (error) {
    const exists = findErrorCode(error) === "EEXIST";
    const message = exists
      ? `the file "${path}" exists already: name a new file`
      : `cannot write "${path}": ${describeError(error)}`;
    throw new ConfigError([{ source: "--kubeconfig", message }], { cause: error });
  }
}

function toKubeconfig(server: string): string {
  return `apiVersion: v1
kind: Config
current-context: demo
clusters: [{ name: demo, cluster: { server: "${server}" } }]
users: [{ name: demo, user: {} }]
contexts: [{ name: demo, context: { cluster: demo, user: demo } }]
`;
}

/** One word of a POSIX shell. */
function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
