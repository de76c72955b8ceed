/**
 * Checks whether the command of a plugin exists, so that a wrong one is reported at the start and not at the first
 * request.
 * @module
 */
import { access, constants, stat } from "node:fs/promises";
import { delimiter, resolve } from "node:path";
import { type ExecSpec, toCommandError } from "./exec_spec.ts";

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
