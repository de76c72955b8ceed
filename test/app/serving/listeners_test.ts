import { expect, test } from "bun:test";
import { startListeners } from "../../../lib/app/serving/listeners.ts";
import { createParts } from "../../../lib/app/parts.ts";
import { systemClock } from "../../../lib/core/clock.ts";
import { toBareApp } from "../../support/process/bare_app.ts";

const signal = new AbortController().signal;

test("startListeners() listens nowhere when nobody asks for it", async () => {
  const options = toBareApp({ clock: systemClock });
  expect(await startListeners(options, createParts(options), signal)).toEqual([]);
});

test("startListeners() serves no page of Nodes without a cloud, and is ready without an inventory", async () => {
  const ports: number[] = [];
  const { provider: _none, ...options } = toBareApp({
    clock: systemClock,
    debugAddress: { kind: "tcp", host: "127.0.0.1", port: 0 },
    onDebugListening: (address) => void ports.push(address.kind === "tcp" ? address.port : 0),
  });
  const [server] = await startListeners(options, createParts(options), signal);
  const read = (path: string): Promise<Response> => fetch(`http://127.0.0.1:${ports[0]}${path}`);
  expect((await read("/readyz")).status).toBe(200);
  expect((await read("/debug/nodes")).status).toBe(404);
  const paths = await (await read("/")).text();
  expect(paths).toContain("/debug/process");
  expect(paths).not.toMatch(/nodes|inventory/);
  await server?.stop(0);
});
