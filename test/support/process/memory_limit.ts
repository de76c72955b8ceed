/**
 * A limit on memory as containers have it: a control group of its own, of version 1 or 2.
 * @module
 */
import { rmdirSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { saySkipped } from "../skip.ts";

const ROOT = "/sys/fs/cgroup";
const REMOVE_TRIES = 20;
const REMOVE_GAP_MS = 50;

/** Names of files that the two versions have for the same thing. */
interface Files {
  readonly limit: string;
  readonly peak: string;
  /** Holds a line `oom_kill <count>`. */
  readonly events: string;
}

const V1: Files = {
  limit: "memory.limit_in_bytes",
  peak: "memory.max_usage_in_bytes",
  events: "memory.oom_control",
};
const V2: Files = { limit: "memory.max", peak: "memory.peak", events: "memory.events" };

/** Processes that share a limit. */
export interface MemoryLimit extends AsyncDisposable {
  /** What a command begins with that is to run within it; it keeps its process ID. */
  readonly prefix: readonly string[];
  /** Most bytes that were used at once, file pages and the kernel's own included: these go when there is need. */
  readPeak(): Promise<number>;
  /** How many processes the kernel ended for want of memory. */
  countKills(): Promise<number>;
}

/** Whether no limit can be set here, which is said loudly. @throws Error instead when `CI` is set */
export async function skipsMemoryLimits(): Promise<boolean> {
  try {
    const limit = await createMemoryLimit(64 * 1024 * 1024);
    await limit[Symbol.asyncDispose]();
    return false;
  } catch (error) {
    const text = `tests with little memory: ${error instanceof Error ? error.message : error}`;
    saySkipped(text, error);
    return true;
  }
}

/** Makes a limit of so many bytes. What still runs within it when it is disposed of is ended. */
export async function createMemoryLimit(bytes: number): Promise<MemoryLimit> {
  const isV2 = await exists(join(ROOT, "cgroup.controllers"));
  const files = isV2 ? V2 : V1;
  const parent = isV2 ? ROOT : join(ROOT, "memory");
  if (isV2) await writeFile(join(ROOT, "cgroup.subtree_control"), "+memory");
  const folder = join(parent, `landfall-${process.pid}-${crypto.randomUUID().slice(0, 8)}`);
  await mkdir(folder);
  const remove = (): void => rmdirSync(folder);
  try {
    await writeFile(join(folder, files.limit), `${bytes}`);
  } catch (error) {
    remove();
    throw error;
  }
  const read = (name: string): Promise<string> => readFile(join(folder, name), "utf8");
  return {
    prefix: ["sh", "-c", 'echo $$ > "$0" && exec "$@"', join(folder, "cgroup.procs")],
    readPeak: async () => Number(await read(files.peak)),
    countKills: async () => Number(/^oom_kill (\d+)$/m.exec(await read(files.events))?.[1] ?? 0),
    [Symbol.asyncDispose]: async () => {
      for (const pid of (await read("cgroup.procs")).split("\n").filter(Boolean)) kill(Number(pid));
      await removeSoon(remove);
    },
  };
}

function kill(pid: number): void {
  // It may have ended by itself.
  try {
    process.kill(pid, "SIGKILL");
  } catch {}
}

/** A group is busy for a moment after its last process has ended. */
async function removeSoon(remove: () => void): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      remove();
      return;
    } catch (error) {
      if (tries === REMOVE_TRIES) throw error;
      await Bun.sleep(REMOVE_GAP_MS);
    }
  }
}

async function exists(path: string): Promise<boolean> {
  return await readFile(path).then(
    () => true,
    () => false,
  );
}
