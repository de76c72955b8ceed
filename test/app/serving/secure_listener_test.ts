import { expect, test } from "bun:test";
import { findFreePort } from "../../support/process/server_process.ts";
import { FakeProvider } from "../../support/cloud/instances.ts";
import { startRig, until } from "../../support/nodes/rig.ts";

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
