/**
 * The whole command, on simulated servers.
 * @module
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { check } from "../../../lib/cli/check/mod.ts";
import type { CheckReport } from "../../../lib/cli/check/report.ts";
import { toRegisteredNode } from "../../../lib/cli/demo/cluster.ts";
import { VERSION } from "../../../lib/cli/version.ts";
import { toMicroTime } from "../../../lib/kube/election/lease.ts";
import { systemClock } from "../../../lib/core/clock.ts";
import {
  createDemoWorld as cloudStackWorld,
  startCloudStackSimulator,
} from "../../../lib/simulator/cloudstack/mod.ts";
import { createDemoWorld } from "../../../lib/simulator/xenorchestra/mod.ts";
import { toRegistration } from "../../support/nodes/nodes.ts";
import {
  type DemoServers,
  KUBE_TOKEN,
  startDemoServers,
} from "../../support/process/demo_servers.ts";

const KEEP = "landfall.dev/keep-address";

const CLEANUP = "service.kubernetes.io/load-balancer-cleanup";
const PASSWORD = "p4ssw0rd-of-xo";
const USERS = [{ id: "8d5fd158-6f61-4ab5-a6ad-f208cb0b8a96", username: "ccm", password: PASSWORD }];

let servers: DemoServers;
let kubernetes: DemoServers["kubernetes"];
let cloud: DemoServers["cloud"];
let folder: string;
let kubeconfig: string;

beforeEach(async () => {
  servers = await startDemoServers(USERS);
  ({ kubernetes, cloud, folder, kubeconfig } = servers);
});
afterEach(() => servers.stop());

interface Ended {
  readonly code: number;
  readonly out: string;
}

/** Runs the command; none of the secrets may show in what it says. */
async function run(env: Record<string, string>, ...argv: readonly string[]): Promise<Ended> {
  let out = "";
  const print = (text: string): void => {
    out += text;
  };
  const code = await check([`--kubeconfig=${kubeconfig}`, ...argv], {
    env,
    print,
    complain: print,
  });
  for (const secret of [KUBE_TOKEN, PASSWORD, cloud.token, btoa(`ccm:${PASSWORD}`)]) {
    expect(out).not.toContain(secret);
  }
  return { code, out };
}

async function report(
  env: Record<string, string>,
  ...argv: readonly string[]
): Promise<CheckReport & { code: number }> {
  const { code, out } = await run(env, "--output=json", ...argv);
  return { ...JSON.parse(out), code };
}

/** The report with the keys of a user of the demo's CloudStack. */
async function reportCloudStack(
  username: string,
  ...argv: readonly string[]
): Promise<CheckReport & { code: number }> {
  const { world } = cloudStackWorld();
  const cloudstack = await startCloudStackSimulator({ clock: systemClock, world });
  try {
    const user = [...cloudstack.state.users.values()].find((one) => one.username === username);
    const { apiKey = "", secretKey = "" } = user ?? {};
    const config = join(folder, "cloud-config");
    const lines = [`api-url=${cloudstack.url}`, `api-key=${apiKey}`, `secret-key=${secretKey}`];
    await writeFile(config, ["[Global]", ...lines, ""].join("\n"));
    const flags = ["--cloud-provider=external-cloudstack", `--cloud-config=${config}`];
    const found = await report({}, ...flags, ...argv);
    expect(JSON.stringify(found)).not.toContain(secretKey);
    return found;
  } finally {
    await cloudstack.stop();
  }
}

function byToken(): Record<string, string> {
  return { XOA_URL: cloud.url, XOA_TOKEN: cloud.token };
}

function byPassword(): Record<string, string> {
  return { XOA_URL: cloud.url, XOA_USER: "ccm", XOA_PASSWORD: PASSWORD };
}

/** A Node that was initialised, and of which the machine runs. */
function registerLiveNode(): void {
  const [vm] = cloud.state.list("vms");
  const providerID = `xenorchestra://${String(vm?.["$pool"])}/${vm?.id}`;
  kubernetes.objects.createNode({ metadata: { name: "live" }, spec: { providerID } });
}

describe("check()", () => {
  test("ends with 0 when all is well, as text", async () => {
    const { code, out } = await run(byToken());
    expect(out).toMatch(/\nNo problems, \d+ ok; Landfall would change 8 Nodes\n$/);
    expect(code).toBe(0);
    expect(out).toMatch(/\nNodes\n {2}ok {4}1 control plane: the DaemonSet runs 1 replica/);
    expect(out).toMatch(/ok +worker-uefi: machine worker-uefi .*system UUID in reversed byte/);
    expect(out).toContain("12 VMs are visible, 8 of them match a Node\n");
  });

  test("ends with 0 when all is well, as JSON", async () => {
    const found = await report(byToken());
    expect(found).toMatchObject({
      code: 0,
      version: VERSION,
      status: "ok",
      cloud: { counts: { pools: 2, vms: 12, hosts: 5 } },
      kubernetes: { server: kubernetes.url },
      permissions: { status: "ok" },
    });
    expect(found.nodes.nodes.map(({ presence }) => presence)).toEqual(
      Array.from({ length: 8 }, () => "present"),
    );
  });

  test("says once what many Nodes have in common, and each with --all", async () => {
    for (let at = 0; at < 600; at += 1) {
      const spec = { providerID: `xenorchestra://gone/vm-${at}` };
      kubernetes.objects.createNode({ metadata: { name: `lost-${at}` }, spec });
    }
    const { out } = await run(byToken());
    const lines = out.split("\n").filter((line) => line.includes("lost-"));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/WARN {2}600 Nodes \(lost-0, lost-1, lost-10, …\): /);
    const all = await run(byToken(), "--all");
    expect(all.out.match(/^ {2}WARN {2}lost-\d+: /gm)).toHaveLength(600);
    expect((await report(byToken())).nodes.nodes).toHaveLength(608);
  });

  test("shows the verbs of a resource together, and each right with --all", async () => {
    expect((await run(byToken())).out).toMatch(
      /^ {2}ok {4}list, watch, patch, get, delete nodes$/m,
    );
    expect((await run(byToken(), "--all")).out).toMatch(/^ {2}ok {4}watch nodes$/m);
  });

  test("finds labels and annotations that are misspelt, on objects of every kind", async () => {
    const { objects } = kubernetes;
    for (const name of ["live", "second"]) {
      objects.createNode({
        metadata: { name, labels: { "landfall.dev/exclude-from-out-of-servce": "" } },
      });
    }
    const annotations = { "landfall.dev/keep-adress": "true" };
    objects.create("services", {
      metadata: { namespace: "default", name: "shop", annotations },
      spec: { type: "LoadBalancer", ports: [{ port: 80 }] },
    });
    const { nodes } = await report(byToken());
    expect(nodes.findings.filter(({ code }) => code === "unknownKey")).toEqual([
      {
        level: "warning",
        code: "unknownKey",
        message: expect.stringMatching(
          /^2 Nodes live, second: the label .*did you mean landfall\.dev\/exclude-from-out-of-service\?$/,
        ),
        advice: "write it as it is meant, or remove it",
      },
    ]);
    const found = await reportCloudStack("kubeadmin");
    expect(found.kubernetes.findings.map(({ message }) => message)).toContain(
      `Service default/shop: the annotation "landfall.dev/keep-adress" has no effect: did you mean ${KEEP}?`,
    );
  });

  test.each(["token", "password"])("writes nothing anywhere, signed in by %s", async (way) => {
    const tokens = [...cloud.auth.tokens.keys()];
    const env = way === "token" ? byToken() : byPassword();
    expect(await report(env)).toMatchObject({ code: 0 });
    expect([...cloud.auth.tokens.keys()]).toEqual(tokens);
    for (const route of cloud.requests.byRoute.keys()) expect(route).toStartWith("GET ");
    const written = kubernetes.requests.entries.filter(({ method }) => method !== "GET");
    for (const { path } of written) expect(path).toEndWith("/selfsubjectaccessreviews");
  });

  test("without load balancers, only looks whether Services have an address of pools that are gone", async () => {
    const { findings } = (await report(byToken())).kubernetes;
    expect(findings.map(({ code }) => code)).not.toContain("services");
    const asked = kubernetes.requests.entries.map(({ path }) => path);
    // Once for these, and once for addresses that are not for Nodes.
    expect(new Set(asked.filter((path) => path.includes("services")))).toEqual(
      new Set(["/api/v1/services"]),
    );
  });

  test.each<[string, string, readonly string[], readonly string[]]>([
    ["service chosen by *", "*", [], ["warning services"]],
    ["service left out", "*,-service", [], []],
    ["service left out first", "-service,*", [], []],
    ["a list without it", "cloud-node,cloud-node-lifecycle", [], []],
    ["service by its other name", "service-lb-controller", [], ["warning services"]],
    ["a Service that has one", "*,-service", [CLEANUP], ["failure serviceController"]],
    ["a Service of another program", "*,-service", ["example.org/own"], []],
  ])(
    "on CloudStack, says with %s who serves load balancers",
    async (_what, list, finalizers, expected) => {
      const metadata = { name: "web", namespace: "default", finalizers: [...finalizers] };
      const spec = { type: "LoadBalancer", ports: [{ port: 80 }] };
      kubernetes.objects.create("services", { metadata, spec });
      const found = await reportCloudStack("kubeadmin", `--controllers=${list}`);
      const findings = [...found.settings.findings, ...found.kubernetes.findings].map(
        (one) => `${one.level} ${one.code}`,
      );
      expect(findings.filter((one) => /serviceController|services/.test(one))).toEqual([
        ...expected,
      ]);
      if (expected.some((one) => one.startsWith("failure"))) expect(found.code).toBe(1);
    },
  );

  test("says once that CloudStack cannot be reached, also if it serves load balancers", async () => {
    const config = join(folder, "cloud-config");
    const lines = [
      "[Global]",
      "api-url=http://127.0.0.1:1",
      "api-key=key",
      "secret-key=secret",
      "",
    ];
    await writeFile(config, lines.join("\n"));
    const flags = ["--cloud-provider=external-cloudstack", `--cloud-config=${config}`];
    const { cloud: seen } = await report({}, ...flags);
    expect(seen.findings).toMatchObject([{ code: "refused", advice: expect.any(String) }]);
  });

  test("says once on CloudStack that no VM has the name of a Node that waits", async () => {
    const { code, nodes } = await reportCloudStack("ops");
    const [found, ...others] = nodes.findings.filter(({ level }) => level !== "ok");
    expect([code, nodes.nodes, others, found?.code]).toEqual([1, [], [], "noNodeVisible"]);
    expect(found?.message).toMatch(/8 Nodes is visible\. Of \S+: .* no VM with the name "/);
  });

  test("says once on CloudStack that the account sees VMs, but none of a Node", async () => {
    for (const { metadata } of kubernetes.objects.list("nodes")) {
      kubernetes.objects.delete("nodes", { name: metadata.name });
    }
    for (const { vmId, nodeName } of cloudStackWorld().machines.values()) {
      const providerID = `external-cloudstack://${vmId}`;
      kubernetes.objects.createNode({ metadata: { name: nodeName }, spec: { providerID } });
    }
    const elsewhere = { metadata: { name: "elsewhere" }, spec: { providerID: "aws:///a/i-1" } };
    kubernetes.objects.createNode(elsewhere);
    const { code, nodes, cloud: seen } = await reportCloudStack("ops");
    expect([code, seen.status, nodes.status]).toEqual([1, "ok", "failure"]);
    expect(nodes.findings.filter(({ level }) => level === "failure")).toEqual([
      {
        level: "failure",
        code: "noNodeVisible",
        message: "none of the machines of 8 Nodes is visible",
        advice: expect.stringMatching(/whose keys .* the domain of that account, and project-id/),
      },
    ]);
    expect(nodes.nodes.map(({ name }) => name)).toEqual(["elsewhere"]);
    // Of the account that the VMs belong to, each Node is shown.
    expect((await reportCloudStack("kubeadmin")).nodes.nodes).toHaveLength(9);
  });

  test("ends with 1 when a tainted Node matches nothing", async () => {
    const [machine] = createDemoWorld().machines.values();
    if (machine === undefined) throw new Error("the demo has machines");
    const node = toRegisteredNode(
      { ...machine, nodeName: "stray", systemUuid: "00000000-0000-4000-8000-000000000001" },
      "2026-01-01T00:00:00Z",
    );
    kubernetes.objects.createNode({ ...node });
    const { code, out } = await run(byToken(), "--problems-only");
    expect(code).toBe(1);
    expect(out).toStartWith("Nodes\n  FAIL  stray: stays uninitialized: Xen Orchestra has no VM");
    expect(out).toContain("\n1 problem, ");
  });

  test("ends with 1 on a warning only with --fail-on=warn", async () => {
    kubernetes.faults.deny({ verb: "create", resource: "events" });
    expect((await run(byToken(), "--fail-on=fail")).code).toBe(0);
    expect((await run(byToken(), "--fail-on=warn")).code).toBe(1);
  });

  test("is as wide as the terminal says", async () => {
    const { out } = await run({ ...byToken(), COLUMNS: "70" });
    expect(out.split("\n").filter((line) => line.length > 70)).toEqual([]);
  });

  test("asks for the permissions of another user in the name of that user, and for nothing else", async () => {
    const seen: string[] = [];
    const proxy = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: (request) => {
        const { pathname, search } = new URL(request.url);
        const names = ["user", "group", "uid"].map((name) =>
          request.headers.get(`impersonate-${name}`),
        );
        seen.push([pathname, ...names.filter((one) => one !== null)].join(" "));
        return fetch(`${kubernetes.url}${pathname}${search}`, request);
      },
    });
    const flags = [
      "--as=system:serviceaccount:kube-system:landfall",
      "--as-group=g",
      "--as-uid=u",
      `--master=${proxy.url}`,
    ];
    const { code, out } = await run(byToken(), ...flags);
    await proxy.stop(true);
    expect(code).toBe(0);
    expect(out).toContain("Permissions of system:serviceaccount:kube-system:landfall\n");
    const reviews = seen.filter((line) => line.includes("selfsubjectaccessreviews"));
    const others = seen.filter((line) => !line.includes("selfsubjectaccessreviews"));
    expect(reviews.length).toBeGreaterThan(10);
    for (const line of reviews) {
      expect(line).toEndWith(" system:serviceaccount:kube-system:landfall g u");
    }
    expect(others.length).toBeGreaterThan(2);
    expect(others.filter((line) => line.includes(" "))).toEqual([]);
  });

  test("finds the Lease that exists by itself, and tells how run uses it", async () => {
    const name = "cloud-controller-manager-xenorchestra";
    kubernetes.objects.create("leases", {
      metadata: { name, namespace: "kube-system" },
      spec: { holderIdentity: "cp-1_x" },
    });
    const found = await report(byToken());
    expect(found.permissions.findings).toMatchObject([
      {
        level: "ok",
        code: "lease",
        message: `Lease kube-system/${name}: held by cp-1_x`,
        advice: expect.stringContaining(`--leader-elect-resource-name=${name}`),
      },
    ]);
    expect(found.permissions.permissions.filter((one) => one.name === name)).toHaveLength(2);
    const named = await run(byToken(), "--leader-elect-resource-name=other");
    expect(named.out).toContain("update leases.coordination.k8s.io in kube-system/other\n");
    expect(named.out).toContain("Lease kube-system/other: not created yet\n");
    expect(named.out).not.toContain(name);
    const alone = await run(byToken(), "--leader-elect=false");
    expect(alone.out).toContain("no Lease: with --leader-elect=false");
  });

  test("warns that the DaemonSet would run nothing, unless a replica leads already", async () => {
    const label = "node-role.kubernetes.io/control-plane";
    for (const { metadata } of servers.kubernetes.objects.list("nodes"))
      kubernetes.objects.patch(
        "nodes",
        { name: metadata.name },
        { metadata: { labels: { [label]: null } } },
      );
    const { out } = await run(byToken(), "--problems-only");
    expect(out).toContain("so the DaemonSet would run no replica");
    kubernetes.objects.create("leases", {
      metadata: { name: "cloud-controller-manager-xenorchestra", namespace: "kube-system" },
      spec: { holderIdentity: "cp-1_x", renewTime: toMicroTime(Date.now()) },
    });
    const led = await run(byToken(), "--problems-only");
    expect(led.out).not.toContain("would run no replica");
  });

  test("warns of another cloud controller manager that leads now", async () => {
    kubernetes.objects.create("leases", {
      metadata: { name: "cloud-controller-manager", namespace: "kube-system" },
      spec: { holderIdentity: "go_1", renewTime: toMicroTime(Date.now()) },
    });
    const found = await report(byToken(), "--leader-elect-resource-name=other");
    expect(found.permissions).toMatchObject({
      status: "warning",
      findings: [{ code: "lease" }, { level: "warning", code: "otherLeader" }],
    });
    const alone = await report(byToken(), "--leader-elect=false");
    expect(alone.permissions).toMatchObject({
      status: "warning",
      findings: [
        { code: "lease" },
        {
          level: "warning",
          code: "otherLeader",
          message: expect.stringContaining("kube-system/cloud-controller-manager: go_1"),
          advice: expect.stringContaining("remove --leader-elect=false, so"),
        },
      ],
    });
  });

  test("ends with 1 and names the right that is missing", async () => {
    kubernetes.faults.deny({ verb: "delete", resource: "nodes" });
    const { code, out } = await run(byToken());
    expect(code).toBe(1);
    expect(out).toMatch(/FAIL +delete nodes: not allowed; needed to/);
    expect(out).toContain("\n1 problem, ");
  });

  test("ends with 0 and a warning without the right to write Events", async () => {
    kubernetes.faults.deny({ verb: "create", resource: "events" });
    expect(await report(byToken())).toMatchObject({ code: 0, status: "warning", warnings: 1 });
  });

  test("says that Nodes may not be listed", async () => {
    kubernetes.faults.deny({ verb: "list", resource: "nodes" });
    const { code, nodes } = await report(byToken());
    expect(code).toBe(1);
    expect(nodes).toMatchObject({ status: "failure", findings: [{ code: "forbidden" }] });
  });

  test("skips Nodes when the cloud cannot be used, but looks at everything else", async () => {
    const found = await report({ ...byToken(), XOA_TOKEN: "wrong" });
    expect(found).toMatchObject({
      code: 1,
      failures: 1,
      cloud: { status: "failure", findings: [{ code: "unauthorized" }] },
      kubernetes: { status: "ok" },
      permissions: { status: "ok" },
      nodes: { status: "skipped", skipped: "the cloud cannot be used" },
    });
  });

  test("ends with 1 when the user may see nothing, names the rights, and gives up no Node", async () => {
    registerLiveNode();
    cloud.faults.set({ kind: "nonAdmin" });
    const found = await report(byToken());
    expect(found).toMatchObject({
      code: 1,
      cloud: { status: "failure", findings: [{ code: "answers" }, { code: "noInstances" }] },
      nodes: { status: "skipped", skipped: "the cloud shows nothing to compare them with" },
    });
    const { out } = await run(byToken());
    expect(out).toContain("the older ACLs do not count for the REST API");
    expect(out).not.toMatch(/delete the Nodes?/);
  });

  test("names the rights, and gives up no Node, when the user may not see VMs and hosts", async () => {
    registerLiveNode();
    for (const route of ["/vms", "/vms/{id}", "/hosts", "/hosts/{id}"]) {
      cloud.faults.set({ kind: "nonAdmin" }, { route });
    }
    const { out } = await run(byToken());
    expect(out).toMatch(/live: Cannot check VM .* may read vm, host, pool/);
    expect(out).not.toMatch(/delete the Nodes?/);
  });

  test("says that it may be a proxy of the environment that failed", async () => {
    const found = await report({ XOA_URL: "http://0.0.0.0:1", XOA_TOKEN: "t", HTTP_PROXY: "x" });
    expect(found.cloud.findings[0]?.code).toBe("refused");
    expect(found.cloud.findings[0]?.advice).toContain("HTTP_PROXY is set");
  });

  test("skips what needs the API server when it cannot be reached", async () => {
    await kubernetes.stop();
    const found = await report(byToken());
    expect(found).toMatchObject({
      code: 1,
      cloud: { status: "ok" },
      kubernetes: { status: "failure", findings: [{ code: "refused" }] },
      permissions: { status: "skipped" },
      nodes: { status: "skipped" },
    });
  });

  test("skips the cloud when the settings cannot be used", async () => {
    const found = await report({ XOA_URL: "ftp://xo", XOA_TOKEN: "t" });
    expect(found).toMatchObject({
      code: 1,
      settings: { status: "failure" },
      cloud: { status: "skipped", skipped: "the settings cannot be used" },
      kubernetes: { status: "ok" },
    });
  });

  test("warns of a Node whose machine nobody knows, and when all are another cloud's", async () => {
    const systemUUID = "00000000-0000-4000-8000-000000000001";
    const metadata = { name: "stray" };
    kubernetes.objects.createNode({ metadata, status: { nodeInfo: { systemUUID } } });
    const found = await report(byToken());
    expect(found).toMatchObject({ code: 0, warnings: 1 });
    expect(found.nodes.nodes.find(({ name }) => name === "stray")).toMatchObject({
      level: "warning",
      reason: "notFound",
    });
    for (const name of [...createDemoWorld().machines.keys(), "stray"]) {
      kubernetes.objects.delete("nodes", { name });
    }
    kubernetes.objects.createNode({ metadata: { name: "n" }, spec: { providerID: "other://1" } });
    expect(await report(byToken())).toMatchObject({
      nodes: { status: "warning", findings: [{ code: "allForeign" }] },
    });
  });

  test("warns that addresses would change type, and names the settings that decide", async () => {
    const { nodes } = (await report(byToken())).nodes;
    const [first, second] = [...createDemoWorld().machines.values()];
    for (const machine of [first, second]) {
      if (machine?.address === undefined)
        throw new Error("the demo's first machines have addresses");
      const { nodeName: name, address } = machine;
      const { metadata, status } = toRegisteredNode(machine, "2026-01-01T00:00:00Z");
      const providerID = nodes.find((node) => node.name === name)?.instance?.providerId;
      // As the Go controller leaves a Node behind: its main address is ExternalIP beside the node IP.
      const addresses = ["InternalIP", "ExternalIP"].map((type) => ({ type, address }));
      kubernetes.objects.delete("nodes", { name });
      kubernetes.objects.createNode({
        metadata,
        spec: { providerID: providerID ?? "" },
        status: { ...status, addresses: [...addresses, { type: "Hostname", address: name }] },
      });
    }
    const found = await report(byToken());
    expect(found).toMatchObject({ code: 0, warnings: 1 });
    const shift = `${first?.address} from ExternalIP and InternalIP to InternalIP`;
    expect(found.nodes.findings.at(-1)).toMatchObject({
      level: "warning",
      code: "addressesChange",
      message: expect.stringContaining(`: ${first?.nodeName}: ${shift}; `),
      advice: expect.stringContaining("addresses.mainIpAsExternal"),
    });
    const file = join(folder, "config.yaml");
    const lines = [
      `url: ${cloud.url}`,
      `token: ${cloud.token}`,
      "addresses: { mainIpAsExternal: true }",
    ];
    await writeFile(file, lines.join("\n"));
    const { out } = await run({}, `--cloud-config=${file}`);
    expect(out).not.toContain("would change: ");
  });

  test("lists the out-of-service taint of a machine that is off, where its controller is chosen", async () => {
    const vm = cloud.state.list("vms").find((one) => one["power_state"] === "Halted");
    const poolId = String(vm?.["$pool"]);
    const host = cloud.state.list("hosts").find((one) => one["$pool"] === poolId);
    const labels = {
      "topology.k8s.xenorchestra/pool_id": poolId,
      "topology.k8s.xenorchestra/host_id": host?.id ?? "",
    };
    const [systemUuid = "", uninitialized] = [vm?.id, false];
    const providerId = `xenorchestra://${poolId}/${systemUuid}`;
    const dead = toRegistration("dead", { systemUuid, providerId, labels, uninitialized });
    kubernetes.objects.createNode(dead);
    const all = "--controllers=*,cloud-node-out-of-service";
    const line =
      "+ taint node.kubernetes.io/out-of-service: would be set after 2 more observations";
    expect((await run(byToken(), all)).out).toContain(line);
    const longer = "--node-out-of-service-grace-period=2m";
    expect((await run(byToken(), all, longer)).out).toContain(`${line} over 2m0s and proof`);
    expect((await run(byToken())).out).not.toContain("out-of-service");
  });

  test("looks at an inventory file, too", async () => {
    const file = join(folder, "inventory.yaml");
    await writeFile(file, "instances: [{ id: m1, name: worker-1 }]\n");
    const { code, out } = await run({}, "--cloud-provider=static", `--cloud-config=${file}`);
    // The file lacks the machines of all others, so they stay tainted.
    expect(code).toBe(1);
    expect(out).toContain("\n7 problems, ");
    expect(out).toContain(`Cloud at ${file}\n`);
    expect(out).toMatch(/ok +worker-1: machine worker-1 \(\w+\), found by name/);
  });

  test("refuses wrong flags, and an unknown provider", async () => {
    await expect(run(byToken(), "--nonsense")).rejects.toThrow("nonsense");
    await expect(run(byToken(), "--cloud-provider=azure")).rejects.toThrow("azure");
  });

  test.each([
    ["--help", "Usage:\n  landfall check"],
    ["--version", `landfall ${VERSION}`],
  ])("answers %s", async (flag, text) => {
    const { code, out } = await run({}, flag);
    expect(code).toBe(0);
    expect(out).toStartWith(text);
  });
});

test("check() says of kinds that are not installed only this, and which file to apply", async () => {
  const { code, out } = await run({}, "--controllers=sipcluster,vino", "--problems-only");
  expect(code).toBe(1);
  const apply = "kubectl apply --server-side -f deploy/manifests/sipcluster/crd.yaml";
  expect(out).toContain(
    "  WARN  the CustomResourceDefinition sipclusters.airship.airshipit.org is missing\n" +
      `        -> its controller waits until you run:\n           ${apply}\n`,
  );
  expect(out).not.toMatch(/404|not from Kubernetes/);
});
