import { expect, spyOn, test } from "bun:test";
import { Announcer, toOwnObject } from "../../lib/app/announcer.ts";
import { runApp } from "../../lib/app/app.ts";
import { FakeProvider, toInstance } from "../support/cloud/instances.ts";
import { ScriptedKubeClient, untilAborted } from "../support/kube/scripted_kube_client.ts";
import { ManualClock, settle } from "../support/manual_clock.ts";
import { startRig, until } from "../support/nodes/rig.ts";
import { toBareApp } from "../support/process/bare_app.ts";
import { findFreePort } from "../support/process/server_process.ts";

async function read(port: number, path: string): Promise<{ status: number; text: string }> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`);
  return { status: response.status, text: await response.text() };
}

test("runApp() is ready once Nodes are synced and an inventory was taken, not before", async () => {
  const provider = new FakeProvider();
  const gate = Promise.withResolvers<void>();
  provider.gate = gate.promise;
  const port = await findFreePort();
  await using rig = await startRig({
    provider,
    debugAddress: { kind: "tcp", host: "127.0.0.1", port },
  });
  await until("it is alive", async () => (await read(port, "/livez")).status === 200);
  await until(
    "Nodes are synced",
    async () => (await read(port, "/readyz/nodes-synced")).status === 200,
  );
  expect((await read(port, "/readyz")).status).toBe(500);
  expect((await read(port, "/readyz?verbose")).text).toContain("[-]inventory-taken failed");
  gate.resolve();
  await until("it is ready", async () => (await read(port, "/readyz")).status === 200);
  provider.failure = new Error("the cloud is away");
  expect((await read(port, "/readyz")).status).toBe(200);
  await rig.stop();
});

test("runApp() serves Nodes, inventory and metrics", async () => {
  const provider = new FakeProvider();
  provider.instances.set("a", toInstance("a", { zone: "z", details: { powerState: "Running" } }));
  const port = await findFreePort();
  await using rig = await startRig({
    provider,
    debugAddress: { kind: "tcp", host: "127.0.0.1", port },
  });
  rig.kubernetes.objects.createNode({ metadata: { name: "a" }, spec: { providerID: "test://a" } });
  for (const name of ["b", "c"]) {
    rig.kubernetes.objects.createNode({ metadata: { name }, spec: { providerID: "other://1" } });
  }
  await until("the Node is known", async () => (await read(port, "/debug/nodes/a")).status === 200);
  await until("it was reconciled", async () =>
    (await read(port, "/debug/nodes/a")).text.includes('"outcome": "ok"'),
  );
  const node: unknown = JSON.parse((await read(port, "/debug/nodes/a")).text);
  expect(node).toMatchObject({
    name: "a",
    providerId: "test://a",
    matchedBy: "providerId",
    presence: { kind: "present" },
    instance: { id: "a", details: { powerState: "Running" } },
    labels: { wanted: { "topology.kubernetes.io/zone": "z" }, actual: {} },
  });
  expect((await read(port, "/debug/nodes?format=text")).text).toMatch(/^NAME +READY +PRESENCE/);
  expect(JSON.parse((await read(port, "/debug/inventory")).text)).toMatchObject({
    counts: { instances: 1, undecodable: 0 },
    coverage: [{ id: "cloud", complete: true }],
  });
  const metrics = (await read(port, "/metrics")).text;
  expect(metrics).toContain('landfall_instances{presence="present"} 1');
  expect(metrics).toContain('landfall_instances{presence="foreign"} 2');
  expect(metrics).toContain('landfall_instances{presence="absent"} 0');
  expect(metrics).toContain(
    'running_managed_controllers{manager="cloud-controller-manager",name="cloud-node"} 1',
  );
  await rig.stop();
});

test("runApp() rejects when its address is taken, and leaves nothing running", async () => {
  using taken = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() });
  const rig = await startRig({
    provider: new FakeProvider(),
    debugAddress: { kind: "tcp", host: "127.0.0.1", port: taken.port ?? 0 },
  });
  await expect(rig.stop()).rejects.toThrow("--debug-address");
  await rig.kubernetes.stop();
});

test("runApp() without any controller serves its pages until it is stopped, however long that is", async () => {
  const stop = new AbortController();
  // Months go by at once; nothing shorter ends.
  const sleep = (ms: number, signal: AbortSignal): Promise<void> =>
    ms > 24 * 86_400_000 ? Promise.resolve() : untilAborted(signal);
  const clock = { now: () => 0, monotonic: () => 0, sleep };
  let hasEnded = false;
  const client = new ScriptedKubeClient(new ManualClock());
  const running = runApp(toBareApp({ client, clock }), stop.signal).finally(
    () => (hasEnded = true),
  );
  await settle();
  expect(hasEnded).toBe(false);
  stop.abort(new Error("the test is over"));
  await running;
});

test("runApp() announces no failure of a cloud that answered at first", async () => {
  const stop = new AbortController();
  const [provider, clock] = [new FakeProvider(), new ManualClock()];
  const announcer = new Announcer(toOwnObject({}, "test"));
  const announce = spyOn(announcer, "announce");
  const running = runApp(toBareApp({ provider, clock, announcer }), stop.signal);
  await clock.advance(1_000);
  expect(provider.lists).toBe(1);
  provider.failure = new Error("connection refused");
  await clock.advance(60_000);
  expect(provider.lists).toBeGreaterThan(1);
  expect(announce).not.toHaveBeenCalled();
  stop.abort(new Error("the test is over"));
  await running;
});
