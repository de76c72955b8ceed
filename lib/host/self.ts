/**
 * The compiled program runs itself for work that is done once and would leave memory behind.
 * @module
 */
import process from "node:process";
import { isCompiled } from "./runtime.ts";

/** Command that makes a certificate: names follow; certificate and key are printed, a zero byte between them. */
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
