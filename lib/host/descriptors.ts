/**
 * How many files and connections the process may have open at once, and who may have how many of them.
 * @module
 */
import { readFileSync } from "node:fs";

/**
 * What the work itself takes at most: 32 requests to the API server, a watch, two requests of the election, eight to
 * the cloud and its stream of events, a file or two, and some ten that the runtime holds.
 */
const KEPT_FOR_WORK = 56;
/** A probe, and somebody who looks. */
const LISTENER_MIN = 2;

/**
 * Reads the limit on open files (`RLIMIT_NOFILE`, the soft one, proc_pid_limits(5)).
 *
 * @returns `undefined` when there is no such file, or no limit
 */
export function readDescriptorLimit(path: string = "/proc/self/limits"): number | undefined {
  try {
    const limit = /^Max open files\s+(\d+)\s/m.exec(readFileSync(path, "utf8"))?.[1];
    return limit === undefined ? undefined : Number(limit);
  } catch {
    return undefined;
  }
}

/** How many connections each of two listeners may have so that the work never lacks a descriptor; 2 at least. */
export function toConnectionsMax(descriptorLimit: number): number {
  return Math.max(LISTENER_MIN, Math.floor((descriptorLimit - KEPT_FOR_WORK) / 2));
}
