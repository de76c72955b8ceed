/**
 * From the Apache provider for CloudStack to Landfall and back, by the commands of docs/guides/migrate-from-apache.md.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { execFile } from "node:child_process";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { delimiter, isAbsolute, join, resolve } from "node:path";
import { promisify } from "node:util";
import { listRights, needAll } from "../../../lib/app/rights.ts";
import { VERSION } from "../../../lib/cli/version.ts";
import { CONTROLLERS } from "../../../lib/controllers/mod.ts";
import { systemClock } from "../../../lib/core/clock.ts";
import type { Node } from "../../../lib/kube/kinds/node.ts";
import { cloudStack } from "../../../lib/providers/cloudstack/mod.ts";
import {
  type CloudStackSimulator,
  createDemoWorld,
  startCloudStackSimulator,
} from "../../../lib/simulator/cloudstack/mod.ts";
import { readJson } from "../../support/kube/contract/client.ts";
import { OtherHolder } from "../../support/kube/election/other_holder.ts";
import { findKubectl } from "../../support/kube/kubectl.ts";
import { listCodeBlocks } from "../../support/markdown_links.ts";
import { skipsCluster } from "../../support/process/cluster.ts";
import {
  ClusterRig,
  type Controller,
  NOT_READY,
  READY,
  waitUntil,
} from "../../support/process/cluster_rig.ts";
import { PROGRAM } from "../../support/process/landfall_process.ts";
import { readSource } from "../../support/sources.ts";

const run = promisify(execFile);
const LEASE = { namespace: "kube-system", name: "cloud-controller-manager" } as const;
const LEASE_S = 3;
/** The arguments of the Apache provider's manifest. */
const ARGS = [
  "--leader-elect=true",
  "--cloud-provider=external-cloudstack",
  "--cloud-config=/config/cloud-config",
] as const;
const DEPLOYMENT = "/apis/apps/v1/namespaces/kube-system/deployments";
const demo = createDemoWorld();
const kubectl = skipsCluster() ? undefined : await findKubectl();
const blocks = listCodeBlocks(await readSource("docs/guides/migrate-from-apache.md"), "sh");
const findBlock = (word: string): string => {
  const block = blocks.find((text) => text.includes(word));
  if (block === undefined) throw new Error(`Cannot find a block with "${word}"`);
  return block;
};

describe.skipIf(kubectl === undefined)("a cluster of the Apache provider", () => {
  let started: { readonly rig: ClusterRig; readonly cloud: CloudStackSimulator } | undefined;
  let controller: Controller | undefined;
  let folder = "";
  const use = (): NonNullable<typeof started> => {
    if (started === undefined) throw new Error("Cannot test: the cluster is not up");
    return started;
  };
  const useProgram = (): NonNullable<typeof PROGRAM> => {
    return PROGRAM;
  };

  beforeAll(async () => {
    const cloud = await startCloudStackSimulator({ clock: systemClock, world: demo.world });
    const rig = await ClusterRig.start();
    started = { rig, cloud };
    await rig.allow(listRights(needAll(LEASE, CONTROLLERS, cloudStack.install)));
    folder = join(rig.cluster.folder, "guide");
    await mkdir(join(folder, "bin"), { recursive: true });
    await mkdir(join(folder, ".kube"));
    const path = isAbsolute(kubectl ?? "") ? kubectl : Bun.which(kubectl ?? "");
    await symlink(path ?? resolve(kubectl ?? ""), join(folder, "bin", "kubectl"));
    await symlink(rig.cluster.adminKubeconfigPath, join(folder, ".kube", "config"));
    const command = useProgram()
      .command.map((word) => `'${word}'`)
      .join(" ");
    const script = `#!/bin/sh\nexec ${command} "$@"\n`;
    await writeFile(join(folder, "bin", "landfall"), script, { mode: 0o755 });
    await register(rig, cloud);
  }, 120_000);
  afterAll(async () => {
    await controller?.landfall.stop();
    await started?.cloud.stop();
    await started?.rig.stop();
  });

  /** Runs commands as an administrator. */
  const runScript = async (script: string): Promise<string> => {
    const path = [join(folder, "bin"), process.env["PATH"]].join(delimiter);
    const options = { cwd: folder, env: { ...process.env, PATH: path, HOME: folder } };
    return (await run("sh", ["-euc", script], { ...options, timeout: 60_000 })).stdout;
  };
  const readNodes = async (): Promise<Map<string, Node>> => {
    const items = await use().rig.cluster.list<Node>("/api/v1/nodes");
    return new Map(items.map((node) => [node.metadata.name ?? "", node]));
  };
  const readDeployment = async (): Promise<unknown> =>
    await readJson(await use().rig.cluster.adminFetch(`${DEPLOYMENT}/cloud-controller-manager`));
  const withArgs = { spec: { template: { spec: { containers: [{ args: ARGS }] } } } };

  test("Landfall takes over when the other stops, and keeps provider IDs, labels and host names", async () => {
    const { rig, cloud } = use();
    const other = new OtherHolder(rig.cluster, { ...LEASE, seconds: LEASE_S });
    expect(await other.acquire()).toBe(true);
    const before = await readNodes();
    const report = await runScript(findBlock("landfall check"));
    expect(report).toContain("found by provider ID");
    expect(report).toMatch(
      /worker-gone: Cannot prove that VM .* if the VM is gone, delete the Node/,
    );

    controller = await rig.startController(useProgram(), {
      args: [
        "--cloud-provider=external-cloudstack",
        `--cloud-config=${folder}/cloud-config`,
        "--leader-elect=true",
        `--leader-elect-resource-name=${LEASE.name}`,
        `--leader-elect-lease-duration=${LEASE_S}s`,
        "--leader-elect-renew-deadline=2s",
        "--leader-elect-retry-period=500ms",
      ],
    });
    await Bun.sleep(LEASE_S * 1_000);
    expect(await readNodes()).toEqual(before);

    await runScript(findBlock("--replicas=0"));
    expect(await readDeployment()).toMatchObject({ spec: { replicas: 0 } });
    await other.fallSilent();
    await waitUntil("the addresses of worker-1", async () => {
      const { status } = await rig.readNode("worker-1");
      return status?.addresses?.length === 3 ? true : undefined;
    });
    await waitUntil(
      "the taint of worker-2, whose VM is off",
      async () => (await rig.readNode("worker-2")).spec?.taints?.[0],
    );
    await runScript(findBlock("diff nodes-before.txt").replace(/^diff.*$/m, "$& || true"));
    // The host has no page here.
    await runScript(findBlock("diff services-before.txt").replace(/^curl.*$/m, ""));
    const after = await readNodes();
    for (const [name, { spec, metadata }] of before) {
      expect(after.get(name)?.spec?.providerID, name).toBe(spec?.providerID ?? "");
      expect(after.get(name)?.metadata.labels, name).toEqual(metadata.labels);
    }
    expect(after.get("worker-1")?.status?.addresses).toEqual([
      { type: "InternalIP", address: "10.10.0.21" },
      { type: "InternalIP", address: "fd00:10::21" },
      { type: "Hostname", address: "kvm-7" },
    ]);
    expect(cloud.requests.entries.map(({ command }) => command)).not.toContain("listProjects");
  }, 90_000);

  test("the Apache provider comes back as it was", async () => {
    await controller?.landfall.stop();
    // There is no DaemonSet here: Landfall is a process.
    await runScript(findBlock("args-before.json)").replace(/^.* delete daemonset.*$/m, ""));
    expect(await readDeployment()).toMatchObject(withArgs);
    expect(await readDeployment()).toMatchObject({ spec: { replicas: 1 } });
    await runScript(findBlock("set image"));
    expect(JSON.stringify(await readDeployment())).toContain(
      `"registry.example.org/landfall:${VERSION}"`,
    );
  }, 90_000);

  /** Nodes, settings and Deployment as the Apache provider has them. */
  async function register(rig: ClusterRig, cloud: CloudStackSimulator): Promise<void> {
    const { url, apiKey, secretKey, state } = cloud;
    const add = async (name: string, vmId: string, more: object = {}): Promise<void> => {
      await rig.register(name, {
        taints: [],
        providerID: `external-cloudstack://${vmId}`,
        labels: toApacheLabels("SmallInstance", "paris"),
        status: { addresses: toApacheAddresses(state.vm(vmId).nics), conditions: [READY] },
        ...more,
      });
    };
    const idOf = (name: string): string => demo.machines.get(name)?.vmId ?? "";
    await add("worker-1", idOf("worker-1"));
    const conditions = [NOT_READY];
    const addresses = toApacheAddresses(state.vm(idOf("worker-2")).nics);
    await add("worker-2", idOf("worker-2"), { status: { addresses, conditions } });
    state.setState(idOf("worker-2"), "Stopped");
    // As version 1.1 wrote it.
    const labels = toApacheLabels("SmallInstance", "lyon");
    await add("worker-3", idOf("worker-3"), { providerID: "external-cloudstack", labels });
    await add("worker-gone", idOf("worker-4"), { status: { conditions } });
    state.expunge(idOf("worker-4"));
    const lines = ["[Global]", `api-url = ${url}`, `api-key = ${apiKey}`];
    const config = [...lines, `secret-key = ${secretKey}`, "refresh-interval = 1s", ""].join("\n");
    await rig.cluster.create("/api/v1/namespaces/kube-system/secrets", {
      metadata: { name: "cloudstack-secret" },
      stringData: { "cloud-config": config },
    });
    await rig.cluster.create(DEPLOYMENT, toApacheDeployment());
  }
});

function toApacheLabels(type: string, zone: string): Record<string, string> {
  return {
    "node.kubernetes.io/instance-type": type,
    "beta.kubernetes.io/instance-type": type,
    "topology.kubernetes.io/zone": zone,
    "failure-domain.beta.kubernetes.io/zone": zone,
    "topology.kubernetes.io/region": zone,
    "failure-domain.beta.kubernetes.io/region": zone,
  };
}

/** The first interface alone, and the hypervisor's name. */
function toApacheAddresses(nics: readonly { readonly ipAddress?: string }[]): object[] {
  return [
    { type: "InternalIP", address: nics[0]?.ipAddress },
    { type: "Hostname", address: "kvm-7" },
  ];
}

function toApacheDeployment(): object {
  const labels = { "k8s-app": "cloud-controller-manager" };
  const container = {
    name: "cloud-controller-manager",
    image: "apache/cloudstack-kubernetes-provider:v1.2.0",
    args: ARGS,
  };
  return {
    metadata: { name: "cloud-controller-manager", labels },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [container] } },
    },
  };
}
