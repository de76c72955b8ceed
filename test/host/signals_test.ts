/**
 * SIGTERM, SIGINT and SIGHUP as an AbortSignal.
 * @module
 */
import process from "node:process";
import { expect, test } from "bun:test";
import { watchSignals } from "../../lib/host/signals.ts";

const WATCHER = `
  import { watchSignals } from "${import.meta.resolve("../../lib/host/signals.ts")}";
  const { signal } = watchSignals();
  signal.addEventListener("abort", () => console.log(signal.reason.message));
  setInterval(() => {}, 1000);
  console.log("ready");`;

/** A process that says what it received. @param start A command that starts Bun with the two arguments after it */
function spawnWatcher(...start: readonly string[]) {
  return Bun.spawn([...start, process.execPath, WATCHER], { stdout: "pipe" });
}

test.each([
  ["SIGTERM", "SIGTERM", 143],
  ["SIGTERM", "SIGINT", 130],
  ["SIGINT", "SIGINT", 130],
  ["SIGHUP", "SIGHUP", 129],
] as const)(
  "watchSignals() stops on %s and exits on a further %s with %d",
  async (first, second, exitCode) => {
    await using child = spawnWatcher("sh", "-c", `exec "$0" -e "$1"`);
    const lines = readLines(child.stdout);
    expect((await lines.next()).value).toBe("ready");
    child.kill(first);
    expect((await lines.next()).value).toBe(`the process received ${first}`);
    child.kill(second);
    expect(await child.exited).toBe(exitCode);
  },
);

test("watchSignals() lets a process that nohup started outlive its terminal", async () => {
  await using child = spawnWatcher("sh", "-c", `trap "" HUP; exec "$0" -e "$1"`);
  const lines = readLines(child.stdout);
  expect((await lines.next()).value).toBe("ready");
  child.kill("SIGHUP");
  child.kill("SIGTERM");
  expect((await lines.next()).value).toBe("the process received SIGTERM");
  child.kill("SIGTERM");
  expect(await child.exited).toBe(143);
});

test("watchSignals() listens no more after close()", () => {
  const count = (): number =>
    ["SIGTERM", "SIGINT", "SIGHUP"].reduce((sum, name) => sum + process.listenerCount(name), 0);
  const before = count();
  const watch = watchSignals();
  expect(count()).toBeGreaterThan(before + 1);
  watch.close();
  expect(count()).toBe(before);
});

async function* readLines(stream: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string> {
  let rest = "";
  for await (const text of stream.pipeThrough(new TextDecoderStream())) {
    const parts = (rest + text).split("\n");
    rest = parts.pop() ?? "";
    yield* parts;
  }
}
