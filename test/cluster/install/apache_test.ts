/**
 * The objects of the Apache provider for CloudStack on a real API server, with nothing changed but the image.
 *
 * Rights, arguments, files and service account are those of its manifest. The cloud is the simulated CloudStack, over
 * HTTPS, as an ordinary user.
 * @module
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { IMAGE } from "../../../deploy/names.ts";
import { toRegisteredNode } from "../../../lib/cli/demo/cluster.ts";
import type { CheckReport } from "../../../lib/cli/check/report.ts";
import { systemClock } from "../../../lib/core/clock.ts";
import type { KubeEvent } from "../../../lib/kube/kinds/event.ts";
import type { Node } from "../../../lib/kube/kinds/node.ts";
import type { Service } from "../../../lib/kube/kinds/service.ts";
import {
  type CloudStackSimulator,
  createDemoWorld,
  startCloudStackSimulator,
} from "../../../lib/simulator/cloudstack/mod.ts";
import { summarizeCloud } from "../../../lib/simulator/cloudstack/world/summary.ts";
import { toPublicIp } from "../../../lib/simulator/cloudstack/world/records.ts";
import { createApacheManifest } from "../../support/deploy/apache_manifest.ts";
import { type ContainedPod, startContainedPod } from "../../support/deploy/contained_pod.ts";
import {
  type Manifest,
  readManifests,
  requireTool,
  withFile,
} from "../../support/deploy/deploy_tools.ts";
import { OtherHolder } from "../../support/kube/election/other_holder.ts";
import { findKubectl } from "../../support/kube/kubectl.ts";
import { createNetwork, skipsNetworks, type TestNetwork } from "../../support/net/network.ts";
import { startTcpProxy, type TcpProxy } from "../../support/net/tcp_proxy.ts";
import { startTlsFront, type TlsFront } from "../../support/net/tls_front.ts";
import { type Cluster, skipsCluster, startCluster } from "../../support/process/cluster.ts";
import { isInitialised, NOT_READY, READY, waitUntil } from "../../support/process/cluster_rig.ts";
import { PROGRAM, runLandfall } from "../../support/process/landfall_process.ts";
import { ROOT } from "../../support/sources.ts";

const run = promisify(execFile);
const kubectl = (await findKubectl()) ?? "";
const isSkipped =
  skipsCluster() || PROGRAM.name !== "binary" || kubectl === "" || (await skipsNetworks());

const USERNAME = "system:serviceaccount:kube-system:cloud-controller-manager";
const OWN_USERNAME = "system:serviceaccount:kube-system:landfall";
const DEPLOYMENT = "/apis/apps/v1/namespaces/kube-system/deployments/cloud-controller-manager";
const LEASE = { namespace: "kube-system", name: "cloud-controller-manager" } as const;
const SERVICE_LEASE = { ...LEASE, name: "cloudstack-service-controller" } as const;
const SHUTDOWN = "node.cloudprovider.kubernetes.io/shutdown";
const WEB = "/api/v1/namespaces/default/services/web";
/** Settings that the Apache provider does not have, to shorten the waits before a deletion. */
const QUICK =
  "refresh-interval = 1s\n\n[Deletion]\nconfirmations = 1\nhold-off = 1s\nfleet-share = 1\n";

/** As the Apache provider writes them, in every letter. */
const WRITTEN: readonly (readonly [node: string, type: string, zone: string])[] = [
  ["cp-1", "Large8ber", "paris"],
  ["worker-1", "SmallInstance", "paris"],
  ["worker-dual", "Large8ber", "paris"],
  ["worker-3", "SmallInstance", "lyon"],
  ["worker-upper", "SmallInstance", "lyon"],
  ["worker-fqdn.k8s.example", "SmallInstance", "lyon"],
];

interface Stage {
  readonly cluster: Cluster;
  readonly cloud: CloudStackSimulator;
  readonly network: TestNetwork;
  readonly front: TlsFront;
  readonly kube: TcpProxy;
  readonly api: TcpProxy;
}

describe.skipIf(isSkipped)("the manifest of the Apache provider with the image of Landfall", () => {
  let stage: Stage | undefined;
  let pod: ContainedPod | undefined;
  const { world, machines, zoneIds } = createDemoWorld();
  // In the zone of most Nodes.
  const publicIps = [...(world.publicIps ?? []), toPublicIp("198.51.100.10", zoneIds.lyon)];
  const use = (): Stage => {
    if (stage === undefined) throw new Error("Cannot test: the cluster is not up");
    return stage;
  };

  beforeAll(async () => {
    const [network, cluster, cloud] = await Promise.all([
      createNetwork(1),
      startCluster(),
      startCloudStackSimulator({ clock: systemClock, world: { ...world, publicIps } }),
    ]);
    const front = await startTlsFront(toPort(cloud.url));
    const { address: host } = network;
    const [kube, api] = await Promise.all(
      [cluster.url, front.url].map((url) => startTcpProxy(toPort(url), { host })),
    );
    if (kube === undefined || api === undefined) throw new Error("Cannot reach the servers");
    stage = { cluster, cloud, network, front, kube, api };
    await applyWith({});
    const metadata = {
      name: "web",
      namespace: "default",
      finalizers: ["service.kubernetes.io/load-balancer-cleanup"],
    };
    const spec = { type: "LoadBalancer", ports: [{ port: 80 }] };
    await cluster.create("/api/v1/namespaces/default/services", { metadata, spec });
  }, 120_000);
  afterAll(async () => {
    await Promise.all([stage?.kube.stop(), stage?.api.stop(), stage?.front.stop()]);
    await Promise.all([stage?.cluster.stop(), stage?.cloud.stop()]);
    await stage?.network[Symbol.asyncDispose]();
  });

  /** The file as its users write it, with what Landfall alone knows at its end. */
  function toCloudConfig(more: string): string {
    const { cloud, api, network } = use();
    const lines = [
      "; of the documents",
      "[Global]",
      `api-url = https://${network.address}:${api.port}/client/api`,
      `api-key = ${cloud.apiKey}`,
      `Secret-Key = "${cloud.secretKey}"`,
      "ssl-no-verify = true",
      "zone = paris",
      "region = acme",
    ];
    return `${lines.join("\n")}\n${more}`;
  }

  async function applyWith({
    args = [],
    settings = "",
  }: {
    readonly args?: readonly string[];
    readonly settings?: string;
  }): Promise<void> {
    const image = `${IMAGE.repository}:${IMAGE.tag}`;
    await apply(createApacheManifest({ image, cloudConfig: toCloudConfig(settings), args }));
  }

  async function apply(objects: readonly Manifest[]): Promise<void> {
    const { cluster } = use();
    const list = { apiVersion: "v1", kind: "List", items: objects };
    await withFile(JSON.stringify(list), async (file) => {
      const cache = join(cluster.folder, "kubectl-cache");
      const flags = [`--kubeconfig=${cluster.adminKubeconfigPath}`, `--cache-dir=${cache}`];
      const said = await requireTool(kubectl, [...flags, "apply", "--filename", file]);
      expect(said.trim().split("\n")).toHaveLength(objects.length);
    });
  }

  async function startPod(workload = DEPLOYMENT): Promise<ContainedPod> {
    const { cluster, network, kube } = use();
    const [host] = network.hosts;
    if (host === undefined) throw new Error("Cannot start the pod");
    const { prefix } = host;
    const place = { cluster, program: PROGRAM, prefix, address: network.address, port: kube.port };
    return await startContainedPod(workload, place);
  }

  async function readNode(name: string): Promise<Node | undefined> {
    return await use().cluster.find<Node>(`/api/v1/nodes/${name}`);
  }

  async function waitForNode(name: string, holds: (node: Node) => boolean): Promise<Node> {
    let last: Node | undefined;
    return await waitUntil(
      () => `Node ${name}, which is ${JSON.stringify(last)}\n${pod?.landfall.log}`,
      async () => {
        last = await readNode(name);
        return last !== undefined && holds(last) ? last : undefined;
      },
    );
  }

  async function setCondition(name: string, condition: object): Promise<void> {
    await use().cluster.patch(
      `/api/v1/nodes/${name}/status`,
      { status: { conditions: [condition] } },
      "strategic",
    );
  }

  let vms = 0;
  /** A running VM like the first one of the world, but for its address. Returns its ID. */
  function addVm(name: string): string {
    const [model] = world.vms ?? [];
    if (model === undefined) throw new Error("Cannot find a machine to copy");
    const { accountId, zoneId, offeringId, nics } = model;
    const own = nics?.map((nic) => ({ ...nic, ipAddress: `10.13.0.${(vms += 1)}` }));
    return use().cloud.state.addVm({ name, accountId, zoneId, offeringId, nics: own });
  }

  async function register(nodeName: string, vmId: string): Promise<void> {
    const machine = { nodeName, vmId, systemUuid: vmId };
    const node = toRegisteredNode(machine, new Date().toISOString());
    await use().cluster.create("/api/v1/nodes", node);
  }

  const vmIdOf = (node: string): string => machines.get(node)?.vmId ?? "";
  const listLines = (word: string): string[] =>
    (pod?.landfall.log ?? "").split("\n").filter((line) => line.includes(word));

  describe("as it is", () => {
    beforeAll(async () => {
      const { cluster } = use();
      const now = new Date().toISOString();
      for (const machine of machines.values()) {
        await cluster.create("/api/v1/nodes", toRegisteredNode(machine, now));
      }
      pod = await startPod();
    }, 60_000);
    afterAll(() => pod?.stop());

    test.each(WRITTEN)(
      "initialises %s as type %s in %s, with its provider ID",
      async (name, type, zone) => {
        const { metadata, spec, status } = await waitForNode(name, isInitialised);
        expect(spec?.providerID).toBe(`external-cloudstack://${vmIdOf(name)}`);
        expect(metadata.labels).toMatchObject({
          "node.kubernetes.io/instance-type": type,
          "beta.kubernetes.io/instance-type": type,
          "topology.kubernetes.io/zone": zone,
          "failure-domain.beta.kubernetes.io/zone": zone,
          "topology.kubernetes.io/region": "acme",
          "failure-domain.beta.kubernetes.io/region": "acme",
        });
        expect(status?.addresses).toContainEqual({
          type: "InternalIP",
          address: machines.get(name)?.address ?? "",
        });
        // The Apache provider writes the name of the hypervisor here.
        expect(status?.addresses).toContainEqual({ type: "Hostname", address: name });
      },
    );

    test("takes its arguments and its file without a word, and holds the same Lease", async () => {
      await waitUntil(
        "the Lease",
        async () => (await use().cluster.findHolder(LEASE.name)) || undefined,
      );
      expect(listLines("flags without effect")).toEqual([]);
      expect(listLines("Cloud settings")).toEqual([]);
      expect(listLines("Read the settings")).toEqual([expect.stringContaining("syntax=INI")]);
    });

    test("serves a Service that the Apache provider began: address, rule, Event and tags", async () => {
      const { cluster, cloud } = use();
      const address = await waitUntil(
        () => `the address of web\n${pod?.landfall.log}`,
        async () => {
          const service = await cluster.read<Service>(WEB);
          return service.status?.loadBalancer?.ingress?.[0]?.ip;
        },
      );
      const found = summarizeCloud(cloud.state).addresses.find((one) => one.address === address);
      expect(found?.loadBalancerRules).toHaveLength(1);
      expect(found?.tags["landfall.dev/service"]).toContain("web");
      const path = "/api/v1/namespaces/default/events";
      let events: readonly string[] = [];
      await waitUntil(
        () => `the Event, beside ${events.join("\n")}`,
        async () => {
          const items = await cluster.list<KubeEvent>(path);
          const own = items.filter(({ involvedObject }) => involvedObject?.name === "web");
          events = own.map(({ reason, message }) => `${reason}: ${message}`);
          return own.some(({ reason }) => reason === "EnsuredLoadBalancer") ? true : undefined;
        },
      );
    }, 60_000);

    test("answers probes, and refuses metrics, because its rights do not let it check tokens", async () => {
      const ask = (path: string, ...headers: readonly string[]): Promise<string> =>
        askInside(use().network, `https://127.0.0.1:10258${path}`, headers);
      expect(await ask("/healthz")).toBe("200");
      expect(await ask("/metrics")).toBe("401");
      for (let times = 0; times < 3; times += 1) {
        expect(await ask("/metrics", `Bearer ${pod?.token}`)).toBe("503");
      }
      const lines = listLines("tokenreviews");
      expect(lines).toEqual([expect.stringContaining("forbidden")]);
    });

    test("sets the shutdown taint while a VM is stopped, which the Apache provider never did", async () => {
      const { cloud } = use();
      cloud.state.setState(vmIdOf("worker-2"), "Stopped");
      await applyWith({ settings: QUICK });
      await pod?.refreshSecrets();
      await setCondition("worker-2", NOT_READY);
      const isTainted = ({ spec }: Node): boolean =>
        spec?.taints?.some(({ key }) => key === SHUTDOWN) ?? false;
      await waitForNode("worker-2", isTainted);
      cloud.state.setState(vmIdOf("worker-2"), "Running");
      await setCondition("worker-2", READY);
      await waitForNode("worker-2", (node) => !isTainted(node));
    }, 90_000);

    test("deletes the Node of a VM that is expunged, and no other", async () => {
      const { cluster, cloud } = use();
      cloud.state.expunge(vmIdOf("worker-4"));
      await setCondition("worker-4", NOT_READY);
      await waitUntil(
        () => `the deletion of worker-4:\n${pod?.landfall.log}`,
        async () => ((await readNode("worker-4")) === undefined ? true : undefined),
      );
      const deletions = await cluster.listNodeDeletions();
      expect(deletions.map(({ node, username, code }) => [node, username, code])).toEqual([
        ["worker-4", USERNAME, 200],
      ]);
    }, 90_000);

    test("is refused nothing but the UID of a namespace and the reviews of its HTTPS port", async () => {
      const requests = await use().cluster.listRequests();
      const refused = requests
        .filter(({ username, code }) => username === USERNAME && code === 403)
        .map(({ verb, resource }) => `${verb} ${resource}`);
      expect([...new Set(refused)]).toEqual(["get namespaces", "create tokenreviews"]);
      expect(listLines("ERROR")).toEqual([]);
      // One process, from the first test on.
      expect(listLines("Landfall starts")).toHaveLength(1);
      const { code } = await waitForEnd();
      expect(code).toBe(0);
      expect(await use().cluster.findHolder(LEASE.name)).toBe("");
    });

    async function waitForEnd() {
      if (pod === undefined) throw new Error("Cannot stop what was not started");
      return await pod.landfall.stop();
    }
  });

  test("our own manifests work with the same Secret, and may do all that they do to Services", async () => {
    const { cluster } = use();
    await applyWith({});
    const text = await readFile(join(ROOT, "deploy/manifests/cloudstack/daemonset.yaml"), "utf8");
    await apply(readManifests(text));
    const name = "own-1";
    const vmId = addVm(name);
    pod = await startPod("/apis/apps/v1/namespaces/kube-system/daemonsets/landfall");
    try {
      await register(name, vmId);
      await waitForNode(name, isInitialised);
      expect(await use().cluster.findHolder(LEASE.name)).not.toBe("");
      const kept = await cluster.read<Service>(WEB);
      expect(kept.status?.loadBalancer?.ingress).toHaveLength(1);
      expect((await cluster.adminFetch(WEB, { method: "DELETE" })).status).toBe(200);
      await waitUntil(
        () => `the release of web\n${pod?.landfall.log}`,
        async () => ((await cluster.adminFetch(WEB)).status === 404 ? true : undefined),
      );
      const requests = await cluster.listRequests();
      const own = requests.filter(({ username }) => username === OWN_USERNAME);
      const refused = own.filter(({ code }) => code === 403);
      expect(refused.map(({ verb, resource }) => `${verb} ${resource}`)).toEqual([]);
    } finally {
      await pod.stop();
    }
  }, 60_000);

  describe("beside an Apache provider that keeps the Services", () => {
    let other: OtherHolder | undefined;
    beforeAll(async () => {
      const metadata = {
        name: "other",
        namespace: "default",
        finalizers: ["service.kubernetes.io/load-balancer-cleanup"],
      };
      const spec = { type: "LoadBalancer", ports: [{ port: 80 }] };
      await use().cluster.create("/api/v1/namespaces/default/services", { metadata, spec });
    });
    beforeEach(async () => {
      other = new OtherHolder(use().cluster, { ...SERVICE_LEASE, seconds: 15 });
      expect(await other.acquire()).toBe(true);
    });
    afterEach(async () => {
      await pod?.stop();
      await other?.release();
    });

    test.each([["*,-service"], ["-service,*"], ["cloud-node,cloud-node-lifecycle"]])(
      "with --controllers=%s, acts on Nodes alone, and check finds the other one",
      async (list) => {
        const { cluster } = use();
        const name = `late-${crypto.randomUUID().slice(0, 8)}`;
        const vmId = addVm(name);
        await applyWith({ args: [`--controllers=${list}`], settings: QUICK });
        const asked = (await cluster.listRequests()).length;
        pod = await startPod();
        await register(name, vmId);
        await waitForNode(name, isInitialised);
        expect(await use().cluster.findHolder(LEASE.name)).not.toBe("");
        expect(await use().cluster.findHolder(SERVICE_LEASE.name)).toBe(other?.identity);
        const own = (await cluster.listRequests())
          .slice(asked)
          .filter(({ username }) => username === USERNAME);
        // Nodes get no address of a Service, so Services are read.
        const touched = own.filter(({ resource, verb, name: of }) => {
          const isRead = verb === "list" || verb === "watch";
          return (resource.startsWith("services") && !isRead) || of === SERVICE_LEASE.name;
        });
        expect(touched).toEqual([]);
        const { found, code } = await check(list);
        expect(found).toMatchObject({
          level: "ok",
          message: expect.stringContaining(other?.identity ?? "none"),
        });
        expect(code).not.toBe(2);
        await other?.release();
        expect(await check(list)).toMatchObject({ found: { level: "failure" }, code: 1 });
      },
      90_000,
    );

    /** What `landfall check` says about who serves Services, as an administrator runs it. */
    async function check(list: string) {
      const { cluster } = use();
      const config = join(cluster.folder, "cloud-config");
      await Bun.write(config, toCloudConfig(""));
      const flags = ["--cloud-provider=external-cloudstack", `--cloud-config=${config}`];
      const more = [`--kubeconfig=${cluster.adminKubeconfigPath}`, `--controllers=${list}`];
      const { code, stdout } = await runLandfall(PROGRAM, [
        "check",
        ...flags,
        ...more,
        "--output=json",
      ]);
      const report: CheckReport = JSON.parse(stdout);
      return {
        code,
        found: report.kubernetes.findings.find((one) => one.code === "serviceController"),
      };
    }
  });
});

function toPort(url: string): number {
  return Number(new URL(url).port);
}

/** Status of an answer to a request from the network of the pod. */
async function askInside(
  { hosts: [host] }: TestNetwork,
  url: string,
  [authorization = ""]: readonly string[],
): Promise<string> {
  const [file = "", ...prefix] = host?.prefix ?? [];
  const script = `
    const headers = process.argv[2] ? { authorization: process.argv[2] } : {};
    const { status } = await fetch(process.argv[1], { headers, tls: { rejectUnauthorized: false } });
    console.log(status);`;
  const { stdout } = await run(file, [
    ...prefix,
    process.execPath,
    "--eval",
    script,
    url,
    authorization,
  ]);
  return stdout.trim();
}
