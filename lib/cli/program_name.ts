/**
 * How the program is called.
 * @module
 */
/** kubectl runs a program of this name for `kubectl landfall`. */
const PLUGIN = /(^|[/\\])kubectl-landfall(\.exe)?$/;

/** Says how people call the program. @param paths Where it may be: its file, and what it was called by */
export function toProgramName(...paths: readonly string[]): string {
  return paths.some((path) => PLUGIN.test(path)) ? "kubectl landfall" : "landfall";
}
