/**
 * A lock that processes take in turn to fill a cache.
 * @module
 */
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";

/** Works on a folder, which is made, while no other process does. Before, what interrupted work left there goes. */
export async function withLock<T>(
  folder: string,
  { unfinished, work }: { readonly unfinished: string; readonly work: () => Promise<T> },
): Promise<T> {
  if (Bun.which("flock") === null) throw new Error("flock is missing");
  await mkdir(folder, { recursive: true });
  // It ends with this process, however that ends: its input is closed then.
  const command = ["flock", join(folder, ".lock"), "sh", "-c", "echo; exec cat"];
  const holder = Bun.spawn(command, { stdin: "pipe", stdout: "pipe" });
  try {
    await holder.stdout.getReader().read();
    const left = (await readdir(folder)).filter((name) => name.startsWith(unfinished));
    for (const name of left) await rm(join(folder, name), { recursive: true, force: true });
    return await work();
  } finally {
    await holder.stdin.end();
    await holder.exited;
  }
}
