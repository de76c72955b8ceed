/**
 * Asks a running Landfall process at its debug address.
 * @module
 */
import { type Clock, systemClock, withDeadline } from "../core/clock.ts";
import { ConfigError, type ConfigIssue, describeError, findErrorCode } from "../core/errors.ts";
import { toConnectionProblem } from "../core/http/connection.ts";
import { readText } from "../core/http/request.ts";
import { formatListenAddress, type ListenAddress } from "../core/net/listen_address.ts";
import type { CommandContext } from "./command.ts";
import { DEBUG_ADDRESS_VARIABLE } from "./flags/common.ts";
import { toDebugAddress } from "./flags/listeners.ts";
import type { ParsedFlags } from "./flags/mod.ts";

const ANSWER_MS = 30_000;
/** Most bytes of an answer: 5,000 Nodes need about 15 MiB. */
const BYTES_MAX = 256 * 1024 * 1024;
/** The system reports one of these where no process listens. */
const NOT_LISTENING: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ConnectionRefused",
  "ENOENT",
  "FailedToOpenSocket",
]);
/** How often a watch looks. */
const WATCH_MS = 2_000;
/** Moves the cursor of a terminal to its beginning, and clears what follows. */
const CLEAR = "\u001b[H\u001b[J";

/** What a process answered. */
interface Answer {
  readonly status: number;
  readonly body: string;
}

/**
 * Where a process may answer: by the flag, else by the variable, else at the default address.
 *
 * @throws {ConfigError} when the variable cannot be used
 */
export function findDebugAddress(
  { settings: { debugAddress }, given }: Pick<ParsedFlags, "given" | "settings">,
  env: CommandContext["env"],
): ListenAddress | undefined {
  const text = env[DEBUG_ADDRESS_VARIABLE] ?? "";
  if (text === "" || given.has("debug-address")) return debugAddress;
  const issues: ConfigIssue[] = [];
  const address = toDebugAddress(text, issues, DEBUG_ADDRESS_VARIABLE);
  if (issues.length > 0) throw new ConfigError(issues);
  return address;
}

/**
 * Asks for a path.
 *
 * @param what What is read, for errors: `the Nodes`
 * @returns `undefined` when no process listens there
 * @throws {Error} when it does not answer
 * @throws the signal's reason
 */
export async function askProcess(
  address: ListenAddress,
  { path, what }: { readonly path: string; readonly what: string },
  signal: AbortSignal,
): Promise<Answer | undefined> {
  const deadline = withDeadline(signal, ANSWER_MS);
  try {
    const reply = await request(address, path, deadline);
    return { status: reply.status, body: await readText(reply, { bytesMax: BYTES_MAX }) };
  } catch (error) {
    signal.throwIfAborted();
    if (NOT_LISTENING.has(findErrorCode(error))) return undefined;
    const problem = deadline.aborted
      ? `no answer within ${ANSWER_MS / 1_000} s`
      : describeError(toConnectionProblem(error));
    throw new Error(`cannot read ${what} from ${formatListenAddress(address)}: ${problem}`, {
      cause: error,
    });
  }
}

function request(address: ListenAddress, path: string, signal: AbortSignal): Promise<Response> {
  const isSocket = address.kind === "unix";
  const host = isSocket ? "localhost" : formatListenAddress(address);
  return fetch(`http://${host}${path}`, {
    headers: { accept: "application/json" },
    redirect: "manual",
    signal,
    // It is on this machine: a proxy of the environment must not be used.
    proxy: false,
    ...(isSocket && { unix: address.path }),
  });
}

/**
 * Prints a text once, or again whenever it changes until the signal aborts or no program reads it: on a terminal in
 * place of the one before. Elsewhere only more than the time that has passed is a change: it would print a table for
 * each second.
 *
 * @param read Makes the text
 * @throws what `read` throws the first time; later problems are said, and it goes on
 */
export async function printOrWatch(
  { print, complain, columns, hasReader = () => true, clock = systemClock }: CommandContext,
  { isWatching, read }: { readonly isWatching: boolean; read(): Promise<string> },
  signal: AbortSignal,
): Promise<void> {
  const isTerminal = columns?.() !== undefined;
  let shown = await read();
  print(isWatching && isTerminal ? CLEAR + shown : shown);
  if (!isWatching) return;
  while (!signal.aborted && hasReader()) {
    await pause(clock, signal);
    if (signal.aborted) return;
    try {
      const text = await read();
      const isSame = isTerminal ? text === shown : withoutSpans(text) === withoutSpans(shown);
      if (isSame) continue;
      print(isTerminal ? CLEAR + text : `\n${text}`);
      shown = text;
    } catch (error) {
      if (signal.aborted) return;
      complain(`landfall: ${describeError(error)}\n`);
    }
  }
}

/** A text without spans such as `12s ago`, and without the blanks that align columns with them. */
function withoutSpans(text: string): string {
  return text.replaceAll(/\b\d+[smh]\b/g, "").replaceAll(/ +/g, " ");
}

/** Ends without an error when the signal aborts. */
async function pause(clock: Clock, signal: AbortSignal): Promise<void> {
  await clock.sleep(WATCH_MS, signal).catch(() => undefined);
}
