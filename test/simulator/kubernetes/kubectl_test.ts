import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { execFile, spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { systemClock } from "../../../lib/core/clock.ts";
import { startKubernetesSimulator } from "../../../lib/simulator/kubernetes/mod.ts";
import { findKubectl } from "../../support/kube/kubectl.ts";
import { ROOT } from "../../support/sources.ts";

const run = promisify(execFile);
const KUBECTL = await findKubectl();
const ZONE = "topology.kubernetes.io/zone";

describe.skipIf(KUBECTL === undefined)("kubectl works on startKubernetesSimulator()", () => {
  const simulator = startKubernetesSimulator({ clock: systemClock });
  let folder = "";
  const flags = (): string[] => [
    `--server=${simulator.url}`,
    `--cache-dir=${join(folder, "cache")}`,
    "--kubeconfig=/dev/null",
  ];
  const kubectl = async (...args: string[]): Promise<string> => {
    const { stdout } = await run(KUBECTL ?? "", [...flags(), ...args], { timeout: 10_000 });
    return stdout;
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "landfall-kubectl-test-"));
    simulator.objects.create("events", {
      metadata: { name: "e.1", namespace: "default" },
      involvedObject: { kind: "Node", name: "n-1", uid: "n-1" },
      type: "Warning",
      reason: "MachineUnknown",
      message: "the machine cannot be seen",
      lastTimestamp: "2026-01-01T00:00:00Z",
    });
  });
  beforeEach(() => {
    simulator.objects.deleteNode("n-1");
    simulator.objects.createNode({
      metadata: { name: "n-1", labels: { [ZONE]: "host-a", "node-role.kubernetes.io/cp": "" } },
      spec: { taints: [{ key: "a.example/b", effect: "NoSchedule" }] },
      status: {
        addresses: [{ type: "InternalIP", address: "10.0.0.1" }],
        conditions: [{ type: "Ready", status: "True" }],
        nodeInfo: { kubeletVersion: "v1.35.0" },
      },
    });
  });
  afterAll(async () => {
    await simulator.stop();
    await rm(folder, { recursive: true, force: true });
  });

  test("get nodes shows a table with label columns and addresses", async () => {
    const table = (await kubectl("get", "nodes", "-o", "wide", "-L", ZONE)).split("\n");
    expect(table[0]).toMatch(/^NAME +STATUS +ROLES +AGE +VERSION +INTERNAL-IP .* ZONE$/);
    expect(table[1]).toMatch(/^n-1 +Ready +cp +\d+s +v1\.35\.0 +10\.0\.0\.1 +<none> .* host-a$/);
  });

  test("describe node shows the Node and its Events", async () => {
    const text = await kubectl("describe", "node", "n-1");
    expect(text).toContain("InternalIP:  10.0.0.1");
    expect(text).toMatch(/Warning +MachineUnknown .*the machine cannot be seen/);
  });

  test("get events -A shows a table", async () => {
    const text = await kubectl("get", "events", "-A");
    expect(text).toMatch(/default +\S+ +Warning +MachineUnknown +node\/n-1 +the machine cannot/);
  });

  test.each([
    ["label node n-1 a=b", { metadata: { labels: { a: "b" } } }],
    ["annotate node n-1 a=b", { metadata: { annotations: { a: "b" } } }],
    ["cordon n-1", { spec: { unschedulable: true } }],
    ["taint node n-1 k=v:NoExecute", { spec: { taints: [{ key: "k", value: "v" }, {}] } }],
    [
      `patch node n-1 --type=merge -p {"spec":{"providerID":"a://1"}}`,
      { spec: { providerID: "a://1" } },
    ],
  ])("%s writes", async (command, expected) => {
    await kubectl(...command.split(" "));
    expect(simulator.objects.getNode("n-1")).toMatchObject(expected);
  });

  test("patch --subresource=status writes the status", async () => {
    const patch = JSON.stringify({ status: { addresses: [{ type: "Hostname", address: "n" }] } });
    await kubectl("patch", "node", "n-1", "--subresource=status", "-p", patch);
    const status = simulator.objects.getNode("n-1")?.["status"];
    expect(status).toMatchObject({ addresses: [{ type: "InternalIP" }, { type: "Hostname" }] });
  });

  test("create, apply and delete of a file", async () => {
    const path = join(folder, "map.yaml");
    const map = (value: string): string =>
      `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata: {a: ${value}}\n`;
    await writeFile(path, map("one"));
    expect(await kubectl("apply", "-f", path)).toContain("created");
    await writeFile(path, map("two"));
    expect(await kubectl("apply", "-f", path)).toContain("configured");
    expect(simulator.objects.get("configmaps", { name: "m" })).toMatchObject({
      data: { a: "two" },
    });
    expect(await kubectl("delete", "-f", path)).toContain("deleted");
    expect(simulator.objects.get("configmaps", { name: "m" })).toBeUndefined();
  });

  test("apply of the manifests of the guides, without a flag", async () => {
    const files = ["rbac-user.yaml", "secret.example.yaml", "daemonset.yaml", "deployment.yaml"];
    for (const file of files) {
      const path = join(ROOT, "deploy/manifests", file);
      expect(await kubectl("apply", "-f", path)).not.toBe("");
      expect(await kubectl("delete", "-f", path)).toContain("deleted");
    }
  });

  test("apply says which kind the server lacks", async () => {
    const path = join(folder, "cron.yaml");
    await writeFile(path, "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: c}\n");
    await expect(kubectl("apply", "-f", path)).rejects.toThrow('no matches for kind "CronJob"');
  });

  test("auth says that every right is granted, and what was taken away", async () => {
    expect(await kubectl("auth", "can-i", "delete", "nodes")).toBe("yes\n");
    expect(await kubectl("auth", "can-i", "get", "/healthz")).toBe("yes\n");
    expect(await kubectl("auth", "can-i", "--list")).toMatch(/^\*\.\* .*\[\*\]$/m);
    expect(await kubectl("auth", "whoami")).toMatch(/^Username +simulated$/m);
    const restore = simulator.faults.deny({ verb: "delete", resource: "nodes" });
    await expect(kubectl("auth", "can-i", "delete", "nodes")).rejects.toThrow();
    restore();
  });

  test("the life of a Service of type LoadBalancer, created by flags", async () => {
    await kubectl("create", "namespace", "shop");
    await kubectl("create", "service", "loadbalancer", "web", "--tcp=80:8080", "-n", "shop");
    const web = { namespace: "shop", name: "web" };
    expect(simulator.objects.get("services", web)).toMatchObject({
      spec: { type: "LoadBalancer", ports: [{ port: 80, targetPort: 8080 }] },
    });
    const status = JSON.stringify({ status: { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } } });
    await kubectl("patch", "service", "web", "-n", "shop", "--subresource=status", "-p", status);
    await kubectl("annotate", "service", "web", "-n", "shop", "a=b");
    expect(await kubectl("get", "services", "-A")).toMatch(
      /shop +web +LoadBalancer .* 192\.0\.2\.1 /,
    );
    const text = await kubectl("describe", "service", "web", "-n", "shop");
    expect(text).toMatch(/Annotations: +a: b/);
    expect(text).toMatch(/LoadBalancer Ingress: +192\.0\.2\.1/);
    await kubectl("delete", "service", "web", "-n", "shop");
    expect(simulator.objects.get("services", web)).toBeUndefined();
  });

  test("get nodes -w shows changes as they happen", async () => {
    const watches = simulator.openWatches;
    const child = spawn(KUBECTL ?? "", [...flags(), "get", "nodes", "-w", "-L", ZONE]);
    let output = "";
    const seen = new Promise<void>((resolve) => {
      child.stdout.on("data", (chunk: Buffer) => {
        output += chunk.toString();
        if (output.includes("host-b")) resolve();
      });
    });
    while (simulator.openWatches === watches) await Bun.sleep(10);
    simulator.objects.patchNode("n-1", { metadata: { labels: { [ZONE]: "host-b" } } });
    await seen;
    child.kill();
    const lines = output.trim().split("\n");
    expect(lines.map((line) => line.split(/ +/).at(-1))).toEqual(["ZONE", "host-a", "host-b"]);
  });
});
