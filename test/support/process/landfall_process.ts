/**
 * Landfall as a process of its own: the compiled binary, or the source.
 * @module
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { ROOT } from "../sources.ts";
import { bindProcess, toBound } from "./server_process.ts";

const WAIT_MS = 20_000;

/** Flags with which a takeover takes some 4 s. */
export const SHORT_LEASES = [
  "--leader-elect-lease-duration=4s",
  "--leader-elect-renew-deadline=3s",
  "--leader-elect-retry-period=500ms",
] as const;

/** A way to start Landfall. */
export interface Program {
  /** For titles: `source` or `binary`. */
  readonly name: string;
  readonly command: readonly string[];
}

/** One record of the log, as `--logging-format=json` writes it. */
export type LogRecord = Readonly<Record<string, unknown>>;

/** How a process ended and all that it said. */
export interface Ended {
  /** `null` when a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A running Landfall. */
export interface LandfallProcess {
  readonly pid: number;
  readonly ended: Promise<Ended>;
  /** All of standard error so far. */
  readonly log: string;
  /** All of standard output so far. */
  readonly output: string;
  /** Resolves with the first record, old or new, that fits. @throws Error with the log when none comes in 20 s */
  waitForRecord(fits: (record: LogRecord) => boolean): Promise<LogRecord>;
  /** Resolves once standard output holds this. */
  waitForOutput(text: string): Promise<void>;
  signal(name: NodeJS.Signals): void;
  /** Ends it with SIGTERM. */
  stop(): Promise<Ended>;
}

const BINARY = join(ROOT, "dist", "landfall");
/** What users run: the compiled binary. The source while there is none. */
export const PROGRAM: Program = existsSync(BINARY)
  ? { name: "binary", command: [BINARY] }
  : { name: "source", command: [process.execPath, join(ROOT, "main.ts")] };

/** Starts Landfall. It inherits nothing of the environment but PATH and dies with the test process. */
export function startLandfall(
  { command }: Program,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): LandfallProcess {
  const bound = toBound([...command, ...args]);
  const child = spawn(bound.file, bound.args, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env["PATH"], ...env },
  });
  bindProcess(child, [...args, ...Object.values(env)]);
  const lines: string[] = [];
  const waiting = new Set<(line: string) => void>();
  createInterface({ input: child.stderr }).on("line", (line) => {
    lines.push(line);
    for (const tell of waiting) tell(line);
  });
  let stdout = "";
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  const ended = new Promise<Ended>((resolve) => {
    child.once("close", (code) => {
      resolve({ code, stdout, stderr: lines.join("\n") });
    });
  });
  return {
    pid: child.pid ?? 0,
    ended,
    get log(): string {
      return lines.join("\n");
    },
    get output(): string {
      return stdout;
    },
    waitForRecord: (fits) =>
      new Promise((resolve, reject) => {
        const check = (line: string): void => {
          const record = parseRecord(line);
          if (record === undefined || !fits(record)) return;
          clearTimeout(timer);
          waiting.delete(check);
          resolve(record);
        };
        const timer = setTimeout(() => {
          waiting.delete(check);
          reject(new Error(`No such record in ${WAIT_MS} ms:\n${lines.slice(-40).join("\n")}`));
        }, WAIT_MS);
        waiting.add(check);
        for (const line of lines) check(line);
      }),
    waitForOutput: async (text) => {
      const isOver = ended.then(() => {
        throw new Error(`Ended before it said "${text}":\n${stdout}\n${lines.join("\n")}`);
      });
      const isSaid = new Promise<void>((resolve) => {
        const check = (): void => {
          if (stdout.includes(text)) resolve();
        };
        child.stdout.on("data", check);
        check();
      });
      await Promise.race([isSaid, isOver]);
    },
    signal: (name) => {
      child.kill(name);
    },
    stop: () => {
      child.kill("SIGTERM");
      return ended;
    },
  };
}

/** Ends them all, at once. */
export async function killAll(processes: readonly LandfallProcess[]): Promise<void> {
  for (const landfall of processes) landfall.signal("SIGKILL");
  await Promise.all(processes.map(({ ended }) => ended));
}

/** Runs a command of Landfall to its end. */
export function runLandfall(
  program: Program,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  return startLandfall(program, args, env).ended;
}

/** A line of the log as a record; absent when it is none. */
export function parseRecord(line: string): LogRecord | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
