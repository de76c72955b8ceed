import { expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../../lib/cli/run.ts";
import { systemClock } from "../../lib/core/clock.ts";
import { toMicroTime } from "../../lib/kube/election/lease.ts";
import { startKubernetesSimulator } from "../../lib/simulator/kubernetes/mod.ts";
import { findFreePort } from "../support/process/server_process.ts";
import { until } from "../support/nodes/rig.ts";
import { ROOT } from "../support/sources.ts";

const CONTEXT = { env: {}, print: () => {}, complain: () => {} };

test("run() initialises Nodes in a process of its own, and ends with 0 on SIGTERM", async () => {
  const kubernetes = startKubernetesSimulator({ clock: systemClock });
  const folder = await mkdtemp(join(tmpdir(), "landfall-run-"));
  const inventory = join(folder, "inventory.yaml");
  const text = "refreshInterval: 1s\ninstances: [{ id: m1, name: n, zone: z, state: running }]\n";
  await writeFile(inventory, `${text}deletion: { holdOff: 30s }\n`);
  kubernetes.objects.createNode({
    metadata: { name: "n" },
    spec: {
      taints: [{ key: "node.cloudprovider.kubernetes.io/uninitialized", effect: "NoSchedule" }],
    },
  });
  const port = await findFreePort();
  const flags = [
    `--master=${kubernetes.url}`,
    "--cloud-provider=static",
    `--cloud-config=${inventory}`,
    `--debug-address=127.0.0.1:${port}`,
    "--secure-port=0",
    "--logging-format=json",
  ];
  const child = Bun.spawn([process.execPath, join(ROOT, "main.ts"), ...flags], {
    // Not the folder of the sources, whose tsconfig.json the runtime would read.
    cwd: folder,
    env: {},
    stdout: "ignore",
    stderr: "pipe",
  });
  let log = "";
  const logged = child.stderr.pipeThrough(new TextDecoderStream()).pipeTo(
    new WritableStream({
      write: (chunk) => {
        log += chunk;
      },
    }),
  );
  const spec = (): unknown => kubernetes.objects.getNode("n")?.["spec"];
  await until("the Node is initialised", () => JSON.stringify(spec()).includes("static://m1"));
  expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);
  child.kill("SIGTERM");
  expect(await child.exited).toBe(0);
  await logged;
  const records = log
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const messages = records.map(({ message }) => message);
  expect(messages).toContain("Landfall stopped");
  expect(records.find(({ message }) => message === "Cloud settings")).toMatchObject({
    warning: expect.stringContaining(`${inventory}:3:13: deletion.holdOff: less than 60s`),
  });
  await kubernetes.stop();
  await rm(folder, { recursive: true });
}, 30_000);

test("run() says on its Pod that the cloud did not answer, warns of another leader, and shows no secret", async () => {
  const kubernetes = startKubernetesSimulator({ clock: systemClock });
  const name = "cloud-controller-manager-xenorchestra";
  kubernetes.objects.create("leases", {
    metadata: { namespace: "kube-system", name },
    spec: { holderIdentity: "installed", renewTime: toMicroTime(systemClock.now()) },
  });
  const flags = [`--master=${kubernetes.url}`, "--debug-address=127.0.0.1:0", "--secure-port=0"];
  const pod = { POD_NAME: "landfall-0", POD_NAMESPACE: "kube-system", POD_UID: "u-1" };
  const child = Bun.spawn([process.execPath, join(ROOT, "main.ts"), ...flags], {
    env: { ...pod, XOA_URL: "http://127.0.0.1:1", XOA_TOKEN: "canary" },
    stdout: "ignore",
    stderr: "pipe",
  });
  const log = new Response(child.stderr).text();
  const list = (): readonly object[] => kubernetes.objects.list("events", "kube-system");
  await until("the Event", () => JSON.stringify(list()).includes("FailedToCheckClient"));
  child.kill("SIGTERM");
  expect(await child.exited).toBe(0);
  const events = list().filter((event) => JSON.stringify(event).includes("FailedToCheckClient"));
  expect(events).toMatchObject([
    {
      type: "Warning",
      involvedObject: { kind: "Pod", name: "landfall-0", namespace: "kube-system", uid: "u-1" },
      message: expect.stringContaining(
        "Failed to check xenorchestra client: Cannot reach Xen Orchestra at 127.0.0.1:1",
      ),
      source: { component: "xenorchestra" },
    },
  ]);
  expect(JSON.stringify(events) + (await log)).not.toContain("canary");
  expect(await log).toContain(`--leader-elect-resource-name=${name}`);
  await kubernetes.stop();
}, 30_000);

test("run() takes no Lease for a process that has no controller and serves only its pages", async () => {
  const kubernetes = startKubernetesSimulator({ clock: systemClock });
  const port = await findFreePort();
  const flags = [
    `--master=${kubernetes.url}`,
    "--secure-port=0",
    `--debug-address=127.0.0.1:${port}`,
    "--controllers=route",
  ];
  const child = Bun.spawn([process.execPath, join(ROOT, "main.ts"), ...flags], {
    env: { XOA_URL: "http://127.0.0.1:1", XOA_TOKEN: "canary" },
    stdout: "ignore",
    stderr: "ignore",
  });
  const address = `http://127.0.0.1:${port}/livez`;
  await until("its pages", async () => (await fetch(address).catch(() => undefined))?.ok === true);
  const asked = (): boolean =>
    kubernetes.requests.entries.some(({ path }) => path.includes("/nodes"));
  await until("the watch", asked);
  child.kill("SIGTERM");
  expect(await child.exited).toBe(0);
  const paths = kubernetes.requests.entries.map(({ path }) => path);
  expect(paths.filter((path) => path.includes("/leases"))).toEqual([]);
  await kubernetes.stop();
}, 30_000);

test("run() refuses flags that it does not know", async () => {
  await expect(run(["--nonsense"], CONTEXT)).rejects.toThrow("nonsense");
});

test("run() says where it looked for credentials when there are none", async () => {
  const env = { XOA_URL: "http://127.0.0.1:1", XOA_TOKEN: "t" };
  await expect(run([], { ...CONTEXT, env })).rejects.toThrow("KUBECONFIG");
});
