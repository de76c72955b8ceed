/**
 * SIGTERM and SIGINT as an AbortSignal.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { EventEmitter } from "node:events";
import { StopRequest, watchSignals } from "../../lib/host/signals.ts";
import type { StopSignal } from "../../lib/host/signals.ts";

class FakeHost extends EventEmitter {
  readonly exits: number[] = [];
  exit(code: number): void {
    this.exits.push(code);
  }
}

const cases: readonly [StopSignal, StopSignal, number][] = [
  ["SIGTERM", "SIGTERM", 143],
  ["SIGTERM", "SIGINT", 130],
  ["SIGINT", "SIGINT", 130],
];

describe("watchSignals()", () => {
  test.each(cases)(
    "watchSignals() stops on %s and exits on a further %s with %d",
    (first, second, code) => {
      const host = new FakeHost();
      using watch = watchSignals(host);
      expect(watch.signal.aborted).toBe(false);
      host.emit(first);
      expect(watch.signal.reason).toBeInstanceOf(StopRequest);
      expect(watch.signal.reason).toMatchObject({ received: first });
      expect(host.exits).toEqual([]);
      host.emit(second);
      expect(host.exits).toEqual([code]);
    },
  );

  test("watchSignals() listens no more after close()", () => {
    const host = new FakeHost();
    const watch = watchSignals(host);
    watch.close();
    host.emit("SIGTERM");
    expect(watch.signal.aborted).toBe(false);
    expect(host.listenerCount("SIGTERM") + host.listenerCount("SIGINT")).toBe(0);
  });

  test("watchSignals() works on a real process, also when it is signalled twice", async () => {
    const code = `
      import { watchSignals } from "${import.meta.resolve("../../lib/host/signals.ts")}";
      const { signal } = watchSignals();
      signal.addEventListener("abort", () => console.log("stopping"));
      setInterval(() => {}, 1000);
      console.log("ready");`;
    await using child = Bun.spawn([process.execPath, "-e", code], { stdout: "pipe" });
    const lines = readLines(child.stdout);
    expect((await lines.next()).value).toBe("ready");
    child.kill("SIGTERM");
    expect((await lines.next()).value).toBe("stopping");
    child.kill("SIGINT");
    expect(await child.exited).toBe(130);
  });
});

async function* readLines(stream: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string> {
  let rest = "";
  for await (const text of stream.pipeThrough(new TextDecoderStream())) {
    const parts = (rest + text).split("\n");
    rest = parts.pop() ?? "";
    yield* parts;
  }
}
