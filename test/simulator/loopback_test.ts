import { afterEach, describe, expect, test } from "bun:test";
import { isStream, Loopback, type Outcome } from "../../lib/simulator/loopback.ts";

describe("Loopback", () => {
  let loopback: Loopback | undefined;
  afterEach(() => loopback?.close());

  async function start(outcome: Outcome): Promise<string> {
    loopback = new Loopback(() => Promise.resolve(outcome));
    await loopback.listen();
    return loopback.url;
  }

  const reply = (isHalf: boolean): Outcome => {
    const headers = { "content-type": "text/plain", date: "Thu, 01 Jan 2026 00:00:00 GMT" };
    return { kind: "reply", response: new Response("right", { status: 431, headers }), isHalf };
  };

  test("writes status, headers and body of an answer, the date included", async () => {
    const response = await fetch(await start(reply(false)));
    const date = response.headers.get("date");
    expect([response.status, date, await response.text()]).toEqual([
      431,
      "Thu, 01 Jan 2026 00:00:00 GMT",
      "right",
    ]);
  });

  test.each<[string, Outcome]>([
    ["half an answer", reply(true)],
    ["a reset", { kind: "reset" }],
  ])("ends the connection after %s", async (_name, outcome) => {
    const url = await start(outcome);
    await expect(fetch(url).then((response) => response.text())).rejects.toThrow();
  });

  test("keeps a request that is never answered, until its client leaves", async () => {
    const url = await start({ kind: "hang" });
    const stop = new AbortController();
    const answer = fetch(url, { signal: stop.signal });
    const countHanging = (): number => loopback?.hanging.size ?? 0;
    while (countHanging() !== 1) await Bun.sleep(1);
    stop.abort();
    await expect(answer).rejects.toThrow();
    while (countHanging() !== 0) await Bun.sleep(1);
  });

  test("refuses connections after close(), and accepts them again on the same port", async () => {
    const url = await start(reply(false));
    await loopback?.close();
    await expect(fetch(url)).rejects.toThrow();
    await loopback?.listen();
    expect([loopback?.url, (await fetch(url)).status]).toEqual([url, 431]);
  });
});

test("isStream() tells a stream of events by its type", () => {
  const headers = { "content-type": "text/event-stream" };
  expect([new Response("", { headers }), new Response("")].map(isStream)).toEqual([true, false]);
});
