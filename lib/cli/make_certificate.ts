/**
 * The hidden command `landfall make-certificate`, which the program runs on itself.
 * @module
 */
import { systemClock } from "../core/clock.ts";
import { makeSelfSigned } from "../http/certificate/self_signed.ts";
import type { CommandContext } from "./command.ts";

/**
 * Prints a certificate and its key in PEM, a zero byte between them.
 *
 * @param names Host names and IP addresses that it is for
 * @returns Exit code 0
 */
export function printCertificate(names: readonly string[], context: CommandContext): number {
  const { cert, key } = makeSelfSigned(names, systemClock.now());
  context.print(`${cert}\0${key}`);
  return 0;
}
