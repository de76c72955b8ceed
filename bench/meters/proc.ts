/**
 * What the kernel reports about a process.
 * @module
 */
import { readdir, readFile } from "node:fs/promises";

/** Memory of a process in MiB. */
interface Memory {
  readonly resident: number;
  readonly anonymous: number;
  /** Most that was resident so far. */
  readonly peak: number;
}

/** The resources of a process. */
export interface Holdings extends Memory {
  /**
   * Resident code of the runtime and of libraries, in MiB. How much of it is resident depends on the kernel: one maps
   * single pages, another one large pieces.
   */
  readonly code: number;
  /** Open file descriptors. */
  readonly descriptors: number;
  readonly threads: number;
}

/** Clock ticks in a second, as `getconf CLK_TCK` says on every Linux. */
const TICKS = 100;

/** Processor time so far in seconds, user and system. */
export async function readCpu(pid: number): Promise<number> {
  return parseCpu(await readFile(`/proc/${pid}/stat`, "utf8"));
}

/** @throws Error when the process is gone */
export async function readHoldings(pid: number): Promise<Holdings> {
  const text = await readFile(`/proc/${pid}/status`, "utf8");
  const code = parseCode(await readFile(`/proc/${pid}/smaps`, "utf8"));
  const descriptors = (await readdir(`/proc/${pid}/fd`)).length;
  return { ...parseStatus(text), code, descriptors };
}

/** Seconds from the text of `/proc/PID/stat`. */
export function parseCpu(stat: string): number {
  // After the name in brackets, which may contain blanks and brackets: fields 14 and 15.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}

/** Memory and threads from the text of `/proc/PID/status`; `NaN` for what is not there. */
export function parseStatus(status: string): Memory & { readonly threads: number } {
  const read = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1] ?? Number.NaN);
  return {
    resident: read("VmRSS") / 1_024,
    anonymous: read("RssAnon") / 1_024,
    peak: read("VmHWM") / 1_024,
    threads: read("Threads"),
  };
}

/**
 * MiB of files that are mapped and cannot be written, from the text of `/proc/PID/smaps`. The section with Landfall's
 * own code can be written, so it does not count.
 */
export function parseCode(smaps: string): number {
  let isCode = false;
  let code = 0;
  for (const line of smaps.split("\n")) {
    const [, permissions, inode] = /^[\da-f]+-[\da-f]+ (\S+) \S+ \S+ (\d+)/.exec(line) ?? [];
    if (permissions !== undefined) isCode = inode !== "0" && !permissions.includes("w");
    if (isCode) code += Number(/^Rss:\s+(\d+)/.exec(line)?.[1] ?? 0);
  }
  return code / 1_024;
}
