import { expect, test } from "bun:test";
import { createParts } from "../../../lib/app/parts.ts";
import { startListeners } from "../../../lib/app/serving/listeners.ts";
import { systemClock } from "../../../lib/core/clock.ts";
import { FakeProvider } from "../../support/cloud/instances.ts";
import { startRig, until } from "../../support/nodes/rig.ts";
import { toBareApp } from "../../support/process/bare_app.ts";
import { findFreePort } from "../../support/process/server_process.ts";

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

async function ask(port: number, path: string, token?: string): Promise<number> {
  const response = await fetch(`https://127.0.0.1:${port}${path}`, {
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    tls: { rejectUnauthorized: false },
  });
  await response.text();
  return response.status;
}

test("startSecureListener() serves probes to all and nothing else without a token", async () => {
  const port = await findFreePort();
  await using rig = await startRig({
    provider: new FakeProvider(),
    secure: {
      address: { kind: "tcp", host: "127.0.0.1", port },
      alwaysAllowPaths: ["/healthz", "/readyz", "/livez"],
    },
    configz: { v: "0" },
  });
  await until("it answers", async () => (await ask(port, "/healthz").catch(() => 0)) === 200);
  expect(await ask(port, "/livez/ping")).toBe(200);
  for (const path of ["/metrics", "/configz", "/debug/", "/debug/nodes", "/"]) {
    expect([path, await ask(port, path)]).toEqual([path, 401]);
  }
  // The simulated API server knows no reviews.
  expect(await ask(port, "/metrics", "token")).toBe(503);
  await rig.stop();
  await expect(ask(port, "/healthz")).rejects.toThrow();
});

test("startSecureListener() names the flag of a port that is in use", async () => {
  using taken = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() });
  const rig = await startRig({
    provider: new FakeProvider(),
    secure: {
      address: { kind: "tcp", host: "127.0.0.1", port: taken.port ?? 0 },
      alwaysAllowPaths: [],
    },
  });
  await expect(rig.stop()).rejects.toThrow("--secure-port: Cannot listen at 127.0.0.1");
  await rig.kubernetes.stop();
});
