/**
 * Settings of the runtime for a program that mostly waits: no JIT compiler, no garbage collection by the clock, and
 * pages given back at leisure.
 *
 * Without the compiler about two thirds of the memory are enough (`npm run bench`), for a third more processor time.
 * Collecting every second, whether there is garbage or not, costs half the processor time at rest and saves no memory:
 * the engine collects by itself when enough was allocated. And a thread of the allocator looks for unused pages each
 * time that another goes to sleep, at most ten times a second: every ten seconds is enough, for a third of the
 * processor time at rest. Bun takes these settings from the environment alone, so the program replaces itself once,
 * keeping its process ID.
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

/** Set by whoever wants to decide: `BUN_JSC_useJIT=1` keeps the compiler. */
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
 * Starts the program anew with these settings, in place. Does nothing when it runs from source, when the
 * environment decides already, or when the system refuses: then it goes on as it is.
 */
export function tuneRuntime(host: ReplaceableProcess = process): void {
  const { execPath, argv0, argv, env } = host;
  if (!isCompiled(argv) || env[SETTING] !== undefined) return;
  try {
    host.execve?.(execPath, [argv0, ...argv.slice(2)], { ...env, ...SETTINGS });
  } catch {
    // More memory is no reason not to run.
  }
}
