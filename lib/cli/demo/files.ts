/**
 * The files that the demo writes for kubectl and `landfall check` in another terminal, and lines to paste there.
 * @module
 */
import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { findErrorCode } from "../../core/net/connection_problem.ts";
import { ConfigError, describeError } from "../../core/errors.ts";
import { isCompiled, type ReplaceableProcess } from "../../host/runtime.ts";
import { formatListenAddress, type ListenAddress } from "../../http/sockets/listen_address.ts";

/** Paths of the files. */
export interface DemoFiles {
  readonly kubeconfig: string;
  /** Settings of the simulated Xen Orchestra, with its token. */
  readonly settings: string;
}

/** What a client of the demo needs. */
export interface DemoEndpoints {
  /** URL of the simulated API server. */
  readonly kubernetes: string;
  readonly cloud: { readonly url: string; readonly token: string };
}

/**
 * Writes both files, readable by this user only. Never overwrites a file: it may be the kubeconfig of a real cluster.
 *
 * @throws {ConfigError} when a file exists or cannot be written
 */
export async function writeDemoFiles(files: DemoFiles, endpoints: DemoEndpoints): Promise<void> {
  const { url, token } = endpoints.cloud;
  await writeNew(files.kubeconfig, toKubeconfig(endpoints.kubernetes));
  await writeNew(files.settings, `url: ${JSON.stringify(url)}\ntoken: ${JSON.stringify(token)}\n`);
}

/** The process that runs the demo: the lines run the same program. */
type DemoProcess = Pick<ReplaceableProcess, "execPath" | "argv">;

/** A line that runs `landfall check` on the demo, from any folder. The demo has no Lease, so the line says so. */
export function toCheckCommand({ kubeconfig, settings }: DemoFiles, process: DemoProcess): string {
  const flags = [`--cloud-config=${settings}`, `--kubeconfig=${kubeconfig}`];
  return toLine(process, ["check", ...flags, "--leader-elect=false"]);
}

/** A line that shows the Nodes as the controllers of the demo see them. */
export function toNodesCommand(address: ListenAddress, process: DemoProcess): string {
  return toLine(process, ["nodes", `--debug-address=${formatListenAddress(address)}`]);
}

function toLine({ execPath, argv }: DemoProcess, args: readonly string[]): string {
  const [, main = ""] = argv;
  const program = isCompiled(argv) || main === "" ? [execPath] : [execPath, resolve(main)];
  return [...program, ...args].map(quote).join(" ");
}

async function writeNew(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text, { mode: 0o600, flag: "wx" });
  } catch (error) {
    const exists = findErrorCode(error) === "EEXIST";
    const message = exists
      ? `"${path}" exists and is left alone: name a new file`
      : `"${path}" cannot be written: ${describeError(error)}`;
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
