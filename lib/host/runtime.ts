/**
 * Settings of the runtime for a program that mostly waits: no JIT compiler, no timed garbage collection, and slow
 * return of unused pages.
 *
 * Without the compiler the process needs about two thirds of the memory (`npm run bench`), and a third more processor
 * time. Collecting garbage every second costs half the processor time at rest and saves no memory: the engine collects
 * anyway when enough was allocated. A thread of the allocator looks for unused pages each time that another thread goes
 * to sleep, at most ten times a second; every ten seconds is enough, and saves a third of the processor time at rest.
 * Bun reads these settings only from the environment, so the program replaces itself once and keeps its process ID.
 * @module
 */
import process from "node:process";
import type { Clock } from "../core/clock.ts";

/** A process that can become another program; `process` is one. */
export interface ReplaceableProcess {
  readonly execPath: string;
  readonly argv0: string;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Replaces the program: returns only by throwing. */
  execve?(file: string, args: readonly string[], env: Record<string, string | undefined>): void;
}

/** An operator can set these: `BUN_JSC_useJIT=1` keeps the compiler. */
const SETTING = "BUN_JSC_useJIT";
const SETTINGS: Readonly<Record<string, string>> = {
  [SETTING]: "0",
  BUN_GC_TIMER_DISABLE: "1",
  // Milliseconds.
  MIMALLOC_PURGE_HOLES_MIN_INTERVAL: "10000",
};
/** Where a compiled program finds its own files. */
const EMBEDDED = "/$bunfs/";

/** Whether these are the arguments of the compiled program, and not of one that runs from source. */
export function isCompiled(argv: readonly string[]): boolean {
  return argv[1]?.startsWith(EMBEDDED) === true;
}

/**
 * Restarts the program in place with these settings. Does nothing if it runs from source, if the environment already
 * has them, or if the system refuses.
 */
export function tuneRuntime(host: ReplaceableProcess = process): void {
  const { execPath, argv0, argv, env } = host;
  if (!isCompiled(argv) || env[SETTING] !== undefined) return;
  try {
    host.execve?.(execPath, [argv0, ...argv.slice(2)], { ...env, ...SETTINGS });
  } catch {
    // If this fails, the process runs with more memory.
  }
}

/** How long the process must be quiet, in milliseconds. */
const QUIET_MS = 15_000;
/** Share of one processor that a busy process uses. The heartbeats of 5,000 Nodes take 0.11. */
const BUSY = 0.15;

/** What {@linkcode releaseAfterWork} needs of the process. */
interface WorkingProcess {
  /** Its processor time so far, in microseconds. */
  cpuUsage(): { readonly user: number; readonly system: number };
  /** Asks the engine to give memory back when it is idle. */
  shrink(): void;
}

const OWN: WorkingProcess = { cpuUsage: () => process.cpuUsage(), shrink: () => Bun.shrink() };

/**
 * Gives memory back when the start is over, and after each later burst of work: garbage, and bytecode of functions
 * that do not run any more. The engine reads a function that runs again from the program's file. Ends when the signal
 * aborts.
 */
export async function releaseAfterWork(
  clock: Pick<Clock, "sleep">,
  signal: AbortSignal,
  host: WorkingProcess = OWN,
): Promise<void> {
  const readMs = (): number => {
    const { user, system } = host.cpuUsage();
    return (user + system) / 1_000;
  };
  let isDue = true;
  for (let beforeMs = readMs(); ;) {
    await clock.sleep(QUIET_MS, signal).catch(() => undefined);
    if (signal.aborted) return;
    const nowMs = readMs();
    const isBusy = nowMs - beforeMs > BUSY * QUIET_MS;
    if (isDue && !isBusy) host.shrink();
    isDue = isBusy;
    beforeMs = nowMs;
  }
}
