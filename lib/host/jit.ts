/**
 * Runs the compiled program without a JIT compiler, which a process that mostly waits has no use for.
 *
 * Without it about two thirds of the memory are enough (`npm run bench`), for a third more processor time. Bun takes
 * this setting from the environment alone, so the program replaces itself once, keeping its process ID.
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
/** Where a compiled program finds its own files. */
const EMBEDDED = "/$bunfs/";

/**
 * Starts the program anew without a JIT compiler, in place. Does nothing when it runs from source, when the
 * environment decides already, or when the system refuses: then it goes on as it is.
 */
export function dropJit(host: ReplaceableProcess = process): void {
  const { execPath, argv0, argv, env } = host;
  if (argv[1]?.startsWith(EMBEDDED) !== true || env[SETTING] !== undefined) return;
  try {
    host.execve?.(execPath, [argv0, ...argv.slice(2)], { ...env, [SETTING]: "0" });
  } catch {
    // More memory is no reason not to run.
  }
}
