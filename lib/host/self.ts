/**
 * Runs the compiled program again for single tasks that would leave memory behind in this process.
 * @module
 */
import process from "node:process";
import { isCompiled } from "./runtime.ts";

/**
 * Command that makes a certificate. Its arguments are the names. It prints certificate and key with a zero byte
 * between.
 */
export const CERTIFICATE_COMMAND = "make-certificate";

const TIMEOUT_MS = 10_000;

/**
 * Runs a command of this program to its end and returns its output. Blocks everything else.
 *
 * @returns `undefined` if it runs from source, or if the command failed
 */
export function runSelf(args: readonly string[]): string | undefined {
  const { argv, execPath } = process;
  if (!isCompiled(argv)) return undefined;
  try {
    // Synchronous: the asynchronous ways cost five times the memory for the life of the process.
    const child = Bun.spawnSync([execPath, ...args], {
      stdio: ["ignore", "pipe", "ignore"],
      timeout: TIMEOUT_MS,
    });
    return child.success ? child.stdout.toString() : undefined;
  } catch {
    return undefined;
  }
}
