/**
 * Unix sockets that another process left behind.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { clearSocketPath } from "../../../lib/http/sockets/unix_socket.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "landfall-socket-"));
});
afterAll(() => rm(folder, { recursive: true }));

const { signal } = new AbortController();

describe("clearSocketPath()", () => {
  test("clearSocketPath() finds nothing to do where nothing is", async () => {
    expect(await clearSocketPath(join(folder, "absent"), signal)).toBe("free");
  });

  test("clearSocketPath() leaves a file alone", async () => {
    const path = join(folder, "file");
    await writeFile(path, "x");
    expect(await clearSocketPath(path, signal)).toBe("occupied");
    expect(existsSync(path)).toBe(true);
  });

  test("clearSocketPath() leaves a socket alone that a process listens at", async () => {
    const path = join(folder, "live");
    const server = createServer().listen(path);
    await new Promise((resolve) => server.once("listening", resolve));
    expect(await clearSocketPath(path, signal)).toBe("live");
    expect(existsSync(path)).toBe(true);
    server.close();
  });

  test("clearSocketPath() removes the socket of a process that was killed", async () => {
    const path = join(folder, "dead");
    await leaveSocket(path);
    expect(existsSync(path)).toBe(true);
    expect(await clearSocketPath(path, signal)).toBe("free");
    expect(existsSync(path)).toBe(false);
  });

  test("clearSocketPath() rejects when it is aborted", async () => {
    const reason = new Error("stop");
    await expect(clearSocketPath(folder, AbortSignal.abort(reason))).rejects.toBe(reason);
  });
});

/** Lets a process make a socket and kills it without a chance to clean up. */
async function leaveSocket(path: string): Promise<void> {
  const code = `Bun.serve({ unix: ${JSON.stringify(path)}, fetch: () => new Response() }); console.log("up");`;
  await using child = Bun.spawn([process.execPath, "-e", code], { stdout: "pipe" });
  await child.stdout.getReader().read();
  child.kill("SIGKILL");
  await child.exited;
}
