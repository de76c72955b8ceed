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
