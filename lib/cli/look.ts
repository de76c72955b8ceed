/**
 * What the commands share that show something: `nodes`, `services`, `sipclusters`, `vinos`. They write nothing.
 * @module
 */
import { CONTROLLERS } from "../controllers/mod.ts";
import { withDeadline } from "../core/clock.ts";
import { type ListenAddress, formatListenAddress } from "../core/net/listen_address.ts";
import { suggest } from "../core/text/edit_distance.ts";
import { escapeInvisible, quote, shorten } from "../core/text/printable.ts";
import { watchSignals } from "../host/signals.ts";
import type { CommandContext } from "./command.ts";
import { findCommand } from "./commands.ts";
import { printOrWatch } from "./debug_process.ts";
import { type ParsedFlags, parseFlags } from "./flags/mod.ts";
import { printHelp } from "./help.ts";
import { VERSION } from "./version.ts";

/** Longest time for everything, in milliseconds. Each request has a shorter limit. */
const LOOK_MS = 60_000;

/** Makes the text that a command shows. */
type Read = (parsed: ParsedFlags, context: CommandContext, signal: AbortSignal) => Promise<string>;

/**
 * Prints the text of a command, with `--watch` again whenever it changes.
 *
 * @param read What it complains about is said once. @throws {Error} when there is nothing to show
 * @returns Exit code 0
 * @throws {ConfigError} when the flags cannot be used
 * @throws what `read` throws the first time
 */
export async function look(
  command: string,
  argv: readonly string[],
  context: CommandContext,
  { read, argsMax = 1 }: { readonly read: Read; readonly argsMax?: 0 | 1 },
): Promise<number> {
  const { flags = [] } = findCommand(command) ?? {};
  const parsed = parseFlags(argv, context.controllers ?? CONTROLLERS, { flags, argsMax });
  if (parsed.settings.isHelpWanted) return await printHelp(context, command);
  if (parsed.settings.isVersionWanted) {
    context.print(`landfall ${VERSION}\n`);
    return 0;
  }
  using stop = watchSignals();
  let isFirst = true;
  const readAgain = async (): Promise<string> => {
    const quiet = isFirst ? context : { ...context, complain: () => undefined };
    isFirst = false;
    return await read(parsed, quiet, withDeadline(stop.signal, LOOK_MS));
  };
  const isWatching = parsed.given.bool("watch");
  await printOrWatch(context, { isWatching, read: readAgain }, stop.signal);
  return 0;
}

/** Says that what is shown comes from a process: another one may say something else. */
export function sayProcess({ complain }: CommandContext, address: ListenAddress): void {
  complain(`landfall: from the Landfall process at ${formatListenAddress(address)}\n`);
}

/** Says that what is shown comes from no process. */
export function sayOwnLook({ complain }: CommandContext, why: string = ""): void {
  complain(`landfall: from the cluster and the cloud${why}\n`);
}

/** JSON that moves no cursor: other programs choose names. */
export function toJson(value: object): string {
  return `${escapeInvisible(JSON.stringify(value, undefined, 2))}\n`;
}

/** A text whose lines end where the terminal does. */
export function fitLines(text: string, width: number): string {
  return text.replaceAll(/.+/g, (line) => shorten(line, width));
}

/** The error for a name that nothing has. It suggests the closest one. @param what `Node` */
export function toUnknownName(what: string, name: string, names: readonly string[]): Error {
  return new Error(`there is no ${what} ${quote(name)}${suggest(name, names)}`);
}
