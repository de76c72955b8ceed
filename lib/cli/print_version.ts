/**
 * `landfall version`: which build this is.
 * @module
 */
import { arch, platform } from "node:os";
import type { CommandContext } from "./command.ts";
import { VERSION_FLAGS } from "./flags/command_flags.ts";
import { parseOwnFlags } from "./flags/own.ts";
import { COMMIT, VERSION } from "./version.ts";

/**
 * Prints the version.
 *
 * @returns Exit code 0
 * @throws {ConfigError} when the flags are wrong
 */
export async function printVersion(
  argv: readonly string[],
  context: CommandContext,
): Promise<number> {
  const { given, isHelpWanted } = parseOwnFlags(argv, { flags: VERSION_FLAGS });
  if (isHelpWanted) {
    const { printHelp } = await import("./help.ts");
    return await printHelp(context, "version");
  }
  context.print(given.text("output") === "json" ? formatJson() : `landfall ${VERSION}\n`);
  return 0;
}

/** Names are stable. */
function formatJson(): string {
  const build = {
    version: VERSION,
    commit: COMMIT,
    platform: `${platform()}/${arch() === "x64" ? "amd64" : arch()}`,
    bun: Bun.version,
  };
  return `${JSON.stringify(build, undefined, 2)}\n`;
}
