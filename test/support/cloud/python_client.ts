/**
 * CloudStack's Python client `cs`, Debian's package of that name.
 * @module
 */
import { spawnSync } from "node:child_process";
import { saySkipped } from "../skip.ts";

/** Debian's own Python, which has Debian's modules. */
export const PYTHON = "/usr/bin/python3";

/** Whether the client is missing, which is said; in CI it must be there. @param what What cannot be tested */
export function lacksPythonClient(what: string): boolean {
  if (spawnSync(PYTHON, ["-c", "import cs"]).status === 0) return false;
  const text = `${what}: install Debian's package cs`;
  saySkipped(text);
  return true;
}
