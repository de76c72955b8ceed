/**
 * Divides the limit on open files and connections of this process.
 * @module
 */
import { readFileSync } from "node:fs";

/**
 * The most that the work itself needs: 32 requests to the API server, a watch, two requests of the election, eight to
 * the cloud and its event stream, one or two files, and about ten for the runtime.
 */
const KEPT_FOR_WORK = 56;
/** Connections of a probe and of one user of the debug pages. */
const LISTENER_MIN = 2;

/**
 * Reads the limit on open files (`RLIMIT_NOFILE`, the soft one, proc_pid_limits(5)).
 *
 * @returns `undefined` without such a file, or without a limit
 */
export function readDescriptorLimit(path: string = "/proc/self/limits"): number | undefined {
  try {
    const limit = /^Max open files\s+(\d+)\s/m.exec(readFileSync(path, "utf8"))?.[1];
    return limit === undefined ? undefined : Number(limit);
  } catch {
    return undefined;
  }
}

/** How many connections each of two listeners may have, so that the work always has descriptors; at least 2. */
export function toConnectionsMax(descriptorLimit: number): number {
  return Math.max(LISTENER_MIN, Math.floor((descriptorLimit - KEPT_FOR_WORK) / 2));
}
