/**
 * The compiled program running itself for something that is done once and would leave memory behind.
 * @module
 */
import process from "node:process";
import { isCompiled } from "./runtime.ts";

/** Command that makes a certificate: names follow; certificate and key are printed, a zero byte between them. */
export const CERTIFICATE_COMMAND = "make-certificate";

const TIMEOUT_MS = 10_000;

/**
 * Runs a command of this program to its end and gives what it printed. Nothing else happens meanwhile.
 *
 * @returns `undefined` when it runs from source, or the command could not be run or failed
 */
export function runSelf(args: readonly string[]): string | undefined {
  const { argv, execPath } = process;
  if (!isCompiled(argv)) return undefined;
  try {
    // Synchronous, because that brings in a fifth of what the asynchronous ways cost for as long as the process lives.
    const child = Bun.spawnSync([execPath, ...args], {
      stdio: ["ignore", "pipe", "ignore"],
      timeout: TIMEOUT_MS,
    });
    return child.success ? child.stdout.toString() : undefined;
  } catch {
    return undefined;
  }
}
