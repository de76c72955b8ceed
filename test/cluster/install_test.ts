/**
 * Installing, upgrading and removing with a real Helm, a real kubectl and a real API server; pods are played.
 * @module
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "../../lib/core/clock.ts";
import {
  createDemoWorld,
  startXenOrchestraSimulator,
  type XenOrchestraSimulator,
} from "../../lib/simulator/xenorchestra/mod.ts";
import { type Cluster, skipsCluster, startCluster } from "../support/cluster.ts";
import { LEASE, waitUntil } from "../support/cluster_rig.ts";
import { readJson } from "../support/contract_client.ts";
import { CHART, requireTool } from "../support/deploy_tools.ts";
import { findHelm, findKubectl } from "../support/kubectl.ts";
import { listPrograms } from "../support/landfall_process.ts";
import { listCodeBlocks } from "../support/markdown_links.ts";
import { PlayedPods } from "../support/played_pods.ts";
import { readSource, ROOT } from "../support/sources.ts";

const isSkipped = skipsCluster();
const helm = isSkipped ? undefined : await findHelm();
const kubectl = isSkipped ? undefined : await findKubectl();
const [program] = listPrograms();

/** Less than the Lease lasts, after which anybody would lead. */
const TAKE_OVER_MS = 10_000;
/** What API servers before 1.22 do not know. */
const OLD_SERVER = "updateStrategy.rollingUpdate.maxSurge=null";
/** What an installation leaves in the cluster if it leaves something. */
const PLACES = [
  "/api/v1/namespaces/kube-system/serviceaccounts",
  "/api/v1/namespaces/kube-system/services",
  "/apis/apps/v1/namespaces/kube-system/daemonsets",
  "/apis/apps/v1/namespaces/kube-system/deployments",
  "/apis/batch/v1/namespaces/kube-system/jobs",
  "/apis/rbac.authorization.k8s.io/v1/namespaces/kube-system/roles",
  "/apis/rbac.authorization.k8s.io/v1/namespaces/kube-system/rolebindings",
  "/apis/rbac.authorization.k8s.io/v1/clusterroles",
  "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
] as const;

describe.skipIf(helm === undefined || kubectl === undefined)("an installation", () => {
  let cluster: Cluster;
  let cloud: XenOrchestraSimulator;
  let pods: PlayedPods;
  let chart = "";
  let manifests = "";

  beforeAll(async () => {
    cluster = await startCluster();
    const { world } = createDemoWorld();
    cloud = await startXenOrchestraSimulator({ clock: systemClock, world });
    chart = join(cluster.folder, "chart");
    await cp(CHART, chart, { recursive: true });
    const about = join(chart, "Chart.yaml");
    const text = await readFile(about, "utf8");
    await writeFile(about, text.replace(/^kubeVersion: .*$/m, "kubeVersion: '>=1.20.0-0'"));
    manifests = join(cluster.folder, "deploy");
    await cp(join(ROOT, "deploy/manifests"), join(manifests, "manifests"), { recursive: true });
    for (const name of ["daemonset", "deployment"]) {
      const path = join(manifests, "manifests", `${name}.yaml`);
      const lines = (await readFile(path, "utf8")).split("\n");
      const known = lines.filter((line) => !/^ +(maxSurge|nodeTaintsPolicy):/.test(line));
      await writeFile(path, known.join("\n"));
    }
  }, 120_000);
  afterAll(async () => {
    await Promise.all([cluster?.stop(), cloud?.stop()]);
  });

  beforeEach(() => {
    if (program === undefined) throw new Error("Cannot find a program");
    pods = new PlayedPods(cluster, program, cloud);
    pods.start();
  });
  afterEach(async () => {
    await pods.stop();
  });

  const runHelm = (...args: readonly string[]): Promise<string> =>
    requireTool(helm ?? "", [
      ...args,
      `--kubeconfig=${cluster.adminKubeconfigPath}`,
      "--namespace=kube-system",
    ]);

  const runKubectl = (...args: readonly string[]): Promise<string> =>
    requireTool(kubectl ?? "", [
      `--kubeconfig=${cluster.adminKubeconfigPath}`,
      `--cache-dir=${join(cluster.folder, "kubectl-cache")}`,
      ...args,
    ]);

  const readHolder = async (): Promise<string | undefined> => {
    const path = `/apis/coordination.k8s.io/v1/namespaces/${LEASE.namespace}/leases/${LEASE.name}`;
    const response = await cluster.adminFetch(path);
    if (response.status === 404) return undefined;
    return (await readJson<{ spec?: { holderIdentity?: string } }>(response)).spec?.holderIdentity;
  };

  const waitForLeader = (): Promise<string> =>
    waitUntil("somebody to lead", async () => (await readHolder()) || undefined);

  const listLeft = async (): Promise<string[]> => {
    const left: string[] = [];
    for (const place of PLACES) {
      const response = await cluster.adminFetch(place);
      const list = await readJson<{ items: readonly { metadata: { name: string } }[] }>(response);
      const own = list.items.filter(({ metadata }) => metadata.name.startsWith("landfall"));
      left.push(...own.map(({ metadata }) => `${place.split("/").at(-1)} ${metadata.name}`));
    }
    return left;
  };

  /** Somebody leads at once: nobody waits for a Lease that its holder could not give back. */
  const expectQuickLead = async (install: () => Promise<unknown>): Promise<void> => {
    const installed = performance.now();
    await install();
    await waitForLeader();
    expect(performance.now() - installed).toBeLessThan(TAKE_OVER_MS);
  };

  test.each([
    ["the DaemonSet", []],
    ["the Deployment", ["--set=useDaemonSet=false,topologySpreadConstraints=null"]],
  ])("of the chart, with %s, gives the Lease back when it is uninstalled", async (_title, more) => {
    const install = (): Promise<string> =>
      runHelm("install", "landfall", chart, `--set=${OLD_SERVER}`, ...more);
    await install();
    await waitForLeader();
    await runHelm("uninstall", "landfall");
    expect(await readHolder()).toBe("");
    expect(pods.said.join("")).toEndWith("is gone, and its pods with it\n");
    expect(await listLeft()).toEqual([]);
    await expectQuickLead(install);
    await runHelm("uninstall", "landfall");
  });

  test("of the chart that was rendered and applied is left alone by the Job of its hook", async () => {
    const rendered = await runHelm("template", "landfall", chart, `--set=${OLD_SERVER}`);
    const file = join(cluster.folder, "rendered.yaml");
    await writeFile(file, rendered);
    await runKubectl("apply", "--namespace=kube-system", `--filename=${file}`);
    await waitForLeader();
    await waitUntil("the Job to end", async () => pods.said.find((text) => text !== ""));
    expect(pods.said).toEqual([
      "daemonset kube-system/landfall is not of this release of Helm: it is left alone\n",
    ]);
    expect(await readHolder()).not.toBe("");
    const place = "--namespace=kube-system";
    await runKubectl("delete", "daemonset/landfall", place, "--cascade=foreground");
    await runKubectl(
      "delete",
      "--namespace=kube-system",
      "--ignore-not-found",
      `--filename=${file}`,
    );
    expect(await listLeft()).toEqual([]);
  });

  test.each(["daemonset", "deployment"])(
    "of manifests/%s.yaml gives the Lease back when it is removed as install.md tells",
    async (kind) => {
      const file = `deploy/manifests/${kind}.yaml`;
      const own = (command: string): Promise<string> => {
        const args = command.split(/\s+/).slice(1);
        return runKubectl(...args.map((arg) => arg.replace(/^deploy\//, `${manifests}/`)));
      };
      const install = (): Promise<string> => own(`kubectl apply -f ${file}`);
      await install();
      await waitForLeader();
      const blocks = listCodeBlocks(await readSource("docs/guides/install.md"), "sh");
      const block = blocks.find((text) => text.includes("kubectl delete -f")) ?? "";
      const commands = block.trim().replaceAll("daemonset", kind).split("\n");
      expect(commands).toHaveLength(2);
      for (const command of commands) await own(command);
      expect(await readHolder()).toBe("");
      expect(await listLeft()).toEqual([]);
      await expectQuickLead(install);
      for (const command of commands) await own(command);
    },
  );
});
