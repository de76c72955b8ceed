/**
 * Server processes that a test starts and surely ends.
 * @module
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { openSync, closeSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:net";

const STOP_GRACE_MS = 5000;
const POLL_MS = 50;
/** Linux gives from 32,768 on (`net.ipv4.ip_local_port_range`). */
const PORTS = { least: 20_000, most: 32_768 } as const;

/** A running process. */
export interface ServerProcess {
  readonly pid: number;
  readonly logPath: string;
  /** Whether it has ended. */
  readonly ended: boolean;
  /** Sends a signal, `SIGSTOP` and `SIGCONT` included. */
  signal(name: NodeJS.Signals): void;
  /** Asks it to end and, 5 s later, ends it. Resolves when it is gone. */
  stop(name?: NodeJS.Signals): Promise<void>;
}

/** Processes that have not ended, and what they were started with. */
const running = new Map<ChildProcess, readonly string[]>();

/** Has Linux end a program also when a signal ends the test process, which then runs nothing any more. */
const UNTIL_PARENT_DIES = Bun.which("setpriv") ? ["setpriv", "--pdeathsig=KILL", "--"] : [];

/** A command that Linux ends with the test process. */
export function toBound(command: readonly string[]): { file: string; args: readonly string[] } {
  const [file = "", ...args] = [...UNTIL_PARENT_DIES, ...command];
  return { file, args };
}

/** Has a process die with the test process, and with the folder that it was told of. @param words What it was told */
export function bindProcess(child: ChildProcess, words: readonly string[]): void {
  const kill = (): void => {
    child.kill("SIGKILL");
  };
  process.once("exit", kill);
  running.set(child, words);
  child.once("exit", () => {
    process.off("exit", kill);
    running.delete(child);
  });
}

/** Ends all processes that were told of a folder: those of a test that failed, too. Resolves when they are gone. */
export async function endProcesses(folder: string): Promise<void> {
  const found = [...running].filter(([, words]) => words.some((word) => word.includes(folder)));
  const ends = found.map(async ([child]) => {
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    await gone;
  });
  await Promise.all(ends);
}

/** Starts a program, its output in a file. It dies with the test process. */
export function startProcess(
  command: string,
  args: readonly string[],
  logPath: string,
): ServerProcess {
  const log = openSync(logPath, "a");
  const bound = toBound([command, ...args]);
  const child: ChildProcess = spawn(bound.file, bound.args, { stdio: ["ignore", log, log] });
  closeSync(log);
  if (child.pid === undefined) throw new Error(`Cannot start "${command}"`);
  bindProcess(child, args);
  const state = { ended: false };
  const gone = new Promise<void>((resolve) => {
    child.once("exit", () => {
      state.ended = true;
      resolve();
    });
  });
  return {
    pid: child.pid,
    logPath,
    get ended(): boolean {
      return state.ended;
    },
    signal: (name) => {
      child.kill(name);
    },
    stop: async (name = "SIGTERM") => {
      // A stopped process takes no signal but SIGKILL.
      child.kill("SIGCONT");
      child.kill(name);
      const timer = setTimeout(() => child.kill("SIGKILL"), STOP_GRACE_MS);
      await gone;
      clearTimeout(timer);
    },
  };
}

/**
 * A loopback port that is free now. It is none of those that a system gives to whoever takes any, such as the client of
 * a connection: so it stays free while its server starts, and starts again.
 */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = Math.floor(PORTS.least + Math.random() * (PORTS.most - PORTS.least));
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}

/**
 * Waits until `isReady` says so.
 *
 * @throws Error with the end of the log when the process ends or `timeoutMs` pass first
 */
export async function waitUntilReady(
  server: ServerProcess,
  options: {
    readonly name: string;
    readonly timeoutMs: number;
    readonly signal: AbortSignal;
    readonly isReady: () => Promise<boolean>;
  },
): Promise<void> {
  const deadline = performance.now() + options.timeoutMs;
  while (!(await options.isReady().catch(() => false))) {
    options.signal.throwIfAborted();
    if (server.ended || performance.now() > deadline) {
      const log = await readFile(server.logPath, "utf8").catch(() => "");
      throw new Error(`Cannot start ${options.name}:\n${log.slice(-3000)}`);
    }
    await Bun.sleep(POLL_MS);
  }
}
