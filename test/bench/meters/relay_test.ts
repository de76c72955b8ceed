import { expect, test } from "bun:test";
import { startMeter } from "../../../bench/meters/relay.ts";

test("startMeter() passes everything on and counts it, both ways, open connections too", async () => {
  const body = "x".repeat(200_000);
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (request) => new Response(`${await request.text()}${body}`),
  });
  try {
    const meter = await startMeter(`http://127.0.0.1:${server.port}`);
    const reply = await fetch(meter.url, { method: "POST", body: body.slice(0, 50_000) });
    expect((await reply.text()).length).toBe(250_000);
    expect(meter.bytes).toBeGreaterThan(300_000);
    expect(meter.bytes).toBeLessThan(302_000);
  } finally {
    await server.stop(true);
  }
});
