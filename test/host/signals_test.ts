/**
 * SIGTERM and SIGINT as an AbortSignal.
 * @module
 */
import process from "node:process";
import { expect, test } from "bun:test";
import { watchSignals } from "../../lib/host/signals.ts";

test.each([
  ["SIGTERM", "SIGTERM", 143],
  ["SIGTERM", "SIGINT", 130],
  ["SIGINT", "SIGINT", 130],
] as const)(
  "watchSignals() stops on %s and exits on a further %s with %d",
  async (first, second, exitCode) => {
    const code = `
    import { watchSignals } from "${import.meta.resolve("../../lib/host/signals.ts")}";
    const { signal } = watchSignals();
    signal.addEventListener("abort", () => console.log(signal.reason.message));
    setInterval(() => {}, 1000);
    console.log("ready");`;
    await using child = Bun.spawn([process.execPath, "-e", code], { stdout: "pipe" });
    const lines = readLines(child.stdout);
    expect((await lines.next()).value).toBe("ready");
    child.kill(first);
    expect((await lines.next()).value).toBe(`the process received ${first}`);
    child.kill(second);
    expect(await child.exited).toBe(exitCode);
  },
);

test("watchSignals() listens no more after close()", () => {
  const count = (): number => process.listenerCount("SIGTERM") + process.listenerCount("SIGINT");
  const before = count();
  const watch = watchSignals();
  expect(count()).toBe(before + 2);
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
