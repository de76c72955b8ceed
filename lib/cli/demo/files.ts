/**
 * The files that the demo writes for kubectl and `landfall` in another terminal, and lines to paste there.
 * @module
 */
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { ControllerDefinition, FlagValues } from "../../controllers/definition.ts";
import { ConfigError, describeError, findErrorCode } from "../../core/errors.ts";
import { isCompiled, type ReplaceableProcess } from "../../host/runtime.ts";
import { formatListenAddress, type ListenAddress } from "../../core/net/listen_address.ts";
import { formatDuration } from "../../core/text/values.ts";
import type { Environment } from "../../cloud/provider_definition.ts";
import { DEBUG_ADDRESS_VARIABLE } from "../flags/common.ts";
import type { CloudClients } from "./cloud.ts";

/** Paths of the files. */
interface DemoFiles {
  readonly kubeconfig: string;
  /** A shell reads it, so that `kubectl` and `landfall` use the demo. The same with `.fish` is for fish. */
  readonly env: string;
  /** Whether the user's shell is fish. */
  readonly isFish: boolean;
  /** Settings of the cloud, if its provider takes none from the environment. */
  readonly cloudConfig: string;
}

/** What `landfall` needs of the demo, beside the kubeconfig. */
export interface DemoEndpoints {
  readonly clients: Pick<CloudClients, "env" | "settings">;
  /** Of the debug pages, with the real port. */
  readonly debugAddress: ListenAddress;
  /** Flags by which `landfall check` looks at what the demo runs. */
  readonly checkFlags: readonly string[];
}

/** The files of a demo. @param kubeconfig Where the user wants it. @default {in the folder} */
export function toDemoFiles(
  folder: string,
  { SHELL = "" }: Environment,
  kubeconfig: string = join(folder, "kubeconfig"),
): DemoFiles {
  const isFish = SHELL.endsWith("fish");
  return {
    kubeconfig,
    env: join(folder, "env"),
    isFish,
    cloudConfig: join(folder, "cloud-config"),
  };
}

/** The process that runs the demo: the other terminal runs the same program. */
type DemoProcess = Pick<ReplaceableProcess, "execPath" | "argv">;

/**
 * Writes a kubeconfig, readable by this user only. Never overwrites a file: it may be that of a real cluster.
 *
 * @param server URL of the simulated API server
 * @throws {ConfigError} when the file exists or cannot be written
 */
export async function writeKubeconfig(path: string, server: string): Promise<void> {
  await writeNew(path, toKubeconfig(server));
}

/**
 * Writes the files for shells, and the settings of the cloud if it needs them, readable by this user only.
 *
 * @throws {ConfigError} when a file exists or cannot be written
 */
export async function writeEnv(
  { kubeconfig, env, cloudConfig }: Omit<DemoFiles, "isFish">,
  { clients, debugAddress, checkFlags }: DemoEndpoints,
  process: DemoProcess,
): Promise<void> {
  const { settings } = clients;
  if (clients.settings !== undefined) await writeNew(cloudConfig, clients.settings.text);
  const variables = {
    KUBECONFIG: kubeconfig,
    ...clients.env,
    [DEBUG_ADDRESS_VARIABLE]: formatListenAddress(toAbsolute(debugAddress)),
  };
  const program = toProgram(process);
  const cloudFlags =
    settings === undefined
      ? []
      : [`--cloud-provider=${settings.provider}`, `--cloud-config=${cloudConfig}`];
  // Without its flags, check would look at what the demo does not run, and `services --kept` would miss the cloud.
  const commands = {
    check: [...program, "check", ...cloudFlags, ...checkFlags],
    ...(cloudFlags.length > 0 && { services: [...program, "services", ...cloudFlags] }),
  };
  const shown = { variables, commands, program };
  await writeNew(env, toPosix(shown));
  await writeNew(`${env}.fish`, toFish(shown));
}

/** What a shell gets. */
interface ShellEnv {
  readonly variables: Readonly<Record<string, string>>;
  /** The words of commands that have more flags than the user gives. */
  readonly commands: Readonly<Record<string, readonly string[]>>;
  readonly program: readonly string[];
}

/** A function works in scripts, too. */
function toPosix({ variables, commands, program }: ShellEnv): string {
  const join = (words: readonly string[]): string => words.map(quote).join(" ");
  return `\
${Object.entries(variables)
  .map(([name, value]) => `export ${name}=${quote(value)}\n`)
  .join("")}\
unalias landfall 2>/dev/null || :
landfall() {
  case "\${1-}" in
${Object.entries(commands)
  .map(([name, words]) => `    ${name}) shift; ${join(words)} "$@" ;;\n`)
  .join("")}\
    *) ${join(program)} "$@" ;;
  esac
}
`;
}

function toFish({ variables, commands, program }: ShellEnv): string {
  const join = (words: readonly string[]): string => words.map(quoteFish).join(" ");
  return `\
${Object.entries(variables)
  .map(([name, value]) => `set -gx ${name} ${quoteFish(value)}\n`)
  .join("")}\
function landfall
  switch "$argv[1]"
${Object.entries(commands)
  .map(([name, words]) => `    case ${name}\n      ${join(words)} $argv[2..-1]\n`)
  .join("")}\
    case '*'
      ${join(program)} $argv
  end
end
`;
}

/** The other terminal may be in another folder. */
function toAbsolute(address: ListenAddress): ListenAddress {
  return address.kind === "unix" ? { ...address, path: resolve(address.path) } : address;
}

/** Says in which shells the line works that makes a terminal use the demo, and shows it. */
export function toEnvLines({ env, isFish }: Pick<DemoFiles, "env" | "isFish">): string {
  const line = isFish ? `source ${quoteFish(`${env}.fish`)}` : `. ${quote(env)}`;
  return `\
The first line makes that terminal use the demo, in ${isFish ? "fish" : "bash, zsh or sh"}:

  ${line}`;
}

/** Flags by which `landfall check` looks at these controllers, with their own flags. */
export function toCheckFlags(
  controllers: readonly Pick<ControllerDefinition, "name">[],
  flags: FlagValues = {},
): string[] {
  return [
    `--controllers=${controllers.map(({ name }) => name).join(",")}`,
    ...Object.entries(flags).map(
      ([name, value]) => `--${name}=${typeof value === "number" ? formatDuration(value) : value}`,
    ),
  ];
}

/** What a demo says when its story is over and its cluster goes on. */
interface Ending {
  /** What is left, as a sentence. @default {nothing is said} */
  readonly left?: string;
  readonly files: Pick<DemoFiles, "env" | "isFish">;
  readonly debugAddress: ListenAddress;
  /** Path of the page to begin with. */
  readonly page: string;
  /** Commands to try, after those of every demo. */
  readonly commands: readonly string[];
}

/** Says that the cluster goes on, and what to try. Without a newline at its end. */
export function toEnding({ left, files, debugAddress, page, commands }: Ending): string {
  const lines = ["landfall check", ...commands].map((command) => `\n  ${command}`).join("");
  return `
The cluster keeps running until you press Ctrl-C.${left === undefined ? "" : ` ${left}`}
Try this in another terminal. ${toEnvLines(files)}${lines}${toPageLine(debugAddress, page)}

The simulated API server grants every right, so kubectl auth can-i always says yes.
Press Ctrl-C to stop. The cluster and its files go with it: then close the other terminal, which still points to them.`;
}

/** Says what the end of a demo leaves. @param kubeconfig As the user named it */
export function toFarewell(kubeconfig: string | undefined): string {
  const rest = kubeconfig === undefined ? "nothing is left" : `only ${kubeconfig} is left`;
  return `\nThe demo has ended: everything that it started has stopped, its files are deleted, and ${rest}.\n`;
}

/** The URL of a page for a browser, as a comment among commands; empty for a unix socket. */
export function toPageLine(address: ListenAddress, page: string): string {
  if (address.kind === "unix") return "";
  return `\n  # in a browser: http://${formatListenAddress(address)}${page}`;
}

/** Its words, from any folder. */
function toProgram({ execPath, argv }: DemoProcess): string[] {
  const [, main = ""] = argv;
  return isCompiled(argv) || main === "" ? [execPath] : [execPath, resolve(main)];
}

const WORDS: ReadonlyMap<string, string> = new Map([
  ["EACCES", "you have no right to write there"],
  ["ENOENT", "there is no such folder"],
  ["ENOSPC", "the disk is full"],
  ["ENOTDIR", "it is no folder"],
  ["EROFS", "the file system is read-only"],
]);

/** Makes the folder for the files of a demo. @throws {ConfigError} when it cannot be made */
export async function makeFolder(): Promise<string> {
  const above = tmpdir();
  try {
    return await mkdtemp(join(above, "landfall-demo-"));
  } catch (error) {
    const what = `cannot make a folder in "${above}": ${describeWriteProblem(error)}`;
    const message = `${what}; set TMPDIR to a folder where you can write`;
    throw new ConfigError([{ message }], { cause: error });
  }
}

function describeWriteProblem(error: unknown): string {
  return WORDS.get(findErrorCode(error)) ?? describeError(error);
}

async function writeNew(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text, { mode: 0o600, flag: "wx" });
  } catch (error) {
    const exists = findErrorCode(error) === "EEXIST";
    const message = exists
      ? `the file "${path}" exists already: name a new file`
      : `cannot write "${path}": ${describeWriteProblem(error)}`;
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

/** One word of fish. */
function quoteFish(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll(/[\\']/g, String.raw`\$&`)}'`;
}

/** One word of a POSIX shell. */
function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
