/**
 * Installing, upgrading and removing with a real Helm, a real kubectl, a real API server and a real
 * kube-controller-manager; scheduler and kubelet are played.
 * @module
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { IMAGE } from "../../../deploy/names.ts";
import { systemClock } from "../../../lib/core/clock.ts";
import {
  createDemoWorld,
  startXenOrchestraSimulator,
  type XenOrchestraSimulator,
} from "../../../lib/simulator/xenorchestra/mod.ts";
import { type Cluster, startCluster } from "../../support/process/cluster.ts";
import { LEASE, waitUntil } from "../../support/process/cluster_rig.ts";
import { skipsRunningPods } from "../../support/process/kube_controllers.ts";
import {
  CHART,
  type Manifest,
  readManifests,
  requireTool,
} from "../../support/deploy/deploy_tools.ts";
import { findHelm, findHelm3, findKubectl } from "../../support/kube/kubectl.ts";
import { PROGRAM } from "../../support/process/landfall_process.ts";
import { listCodeBlocks } from "../../support/markdown_links.ts";
import { PlayedPods } from "../../support/deploy/played_pods.ts";
import { readSource, ROOT } from "../../support/sources.ts";

const isSkipped = await skipsRunningPods();
const kubectl = isSkipped ? undefined : await findKubectl();
const helms = isSkipped || kubectl === undefined ? [] : await listHelms();

/** Less than the Lease lasts, after which anybody would lead. */
const TAKE_OVER_MS = 10_000;
/** The image of the manifests. */
const SAME_IMAGE = `image.repository=${IMAGE.repository}`;
/** In the block of install.md that removes what the manifests made. */
const REMOVAL = "kubectl delete -f deploy/manifests/daemonset.yaml";
/** Takes objects over as they are. */
const PLAIN = ["install", "landfall", "--take-ownership"] as const;
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

describe.each(helms)("an installation with $name", ({ helm, isServerSide }) => {
  let cluster: Cluster;
  let cloud: XenOrchestraSimulator;
  let pods: PlayedPods;
  let manifests = "";
  /** What install.md has people write before. */
  let valuesFile = "";

  beforeAll(async () => {
    cluster = await startCluster();
    const { world } = createDemoWorld();
    cloud = await startXenOrchestraSimulator({ clock: systemClock, world });
    valuesFile = join(cluster.folder, "values.yaml");
    await writeFile(valuesFile, `image:\n  repository: ${IMAGE.repository}\n`);
    manifests = join(cluster.folder, "deploy");
    await cp(join(ROOT, "deploy/manifests"), join(manifests, "manifests"), { recursive: true });
    pods = await PlayedPods.start(cluster, PROGRAM, cloud);
  }, 120_000);
  afterAll(async () => {
    try {
      await pods?.stop();
    } finally {
      await Promise.all([cluster?.stop(), cloud?.stop()]);
    }
  });
  beforeEach(() => pods.forget());

  const runHelm = (...args: readonly string[]): Promise<string> =>
    requireTool(helm, [
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

  const waitForLeader = (): Promise<string> =>
    waitUntil("somebody to lead", async () => (await cluster.findHolder(LEASE.name)) || undefined);

  const listLeft = async (): Promise<string[]> => {
    const left: string[] = [];
    for (const place of PLACES) {
      const items = await cluster.list<{ metadata: { name: string } }>(place);
      const own = items.filter(({ metadata }) => metadata.name.startsWith("landfall"));
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

  /** Commands of a block of install.md that has these words, for a workload. */
  const readGuide = async (words: string, kind = "daemonset"): Promise<readonly string[]> => {
    const blocks = listCodeBlocks(await readSource("docs/guides/install.md"), "sh");
    const found = blocks.filter((text) => text.replaceAll(/^ +/gm, "").includes(words));
    expect(found).toHaveLength(1);
    const text = (found[0] ?? "").trim().replaceAll(/\\\n\s*/g, " ");
    const lines = text.replaceAll("daemonset", kind).split("\n");
    return lines.map((line) => line.trim());
  };

  /** Runs a command of the guide, with this server, and with a copy of the manifests that a test may change. */
  const runGuide = (command: string): Promise<string> => {
    const [tool = "", ...args] = command.split(/\s+/);
    const own = args.map((arg) =>
      arg
        .replace(/^deploy\/chart$/, CHART)
        .replace(/^deploy\//, `${manifests}/`)
        .replace(/^values\.yaml$/, valuesFile),
    );
    if (tool === "kubectl") return runKubectl(...own);
    return runHelm(...own, ...(own[0] === "uninstall" ? [] : [`--set=${SAME_IMAGE}`]));
  };

  const readArgs = async (): Promise<readonly string[]> => {
    const path = "/apis/apps/v1/namespaces/kube-system/daemonsets/landfall";
    const found = await cluster.read<Workload>(path);
    return found.spec.template.spec.containers[0]?.args ?? [];
  };

  test.each([
    ["the DaemonSet", []],
    ["the Deployment", ["--set=useDaemonSet=false"]],
  ])("of the chart, with %s, gives the Lease back when it is uninstalled", async (_title, more) => {
    const install = (): Promise<string> =>
      runHelm("install", "landfall", CHART, `--set=${SAME_IMAGE}`, ...more);
    await install();
    await waitForLeader();
    await runHelm("uninstall", "landfall");
    expect(await cluster.findHolder(LEASE.name)).toBe("");
    expect(pods.said.join("")).toEndWith("is deleted, and its pods are gone\n");
    expect(await listLeft()).toEqual([]);
    await expectQuickLead(install);
    await runHelm("uninstall", "landfall");
  });

  test("of the chart that was rendered and applied is left alone by the Job of its hook", async () => {
    const rendered = await runHelm("template", "landfall", CHART, `--set=${SAME_IMAGE}`);
    const file = join(cluster.folder, "rendered.yaml");
    await writeFile(file, rendered);
    await runKubectl("apply", "--namespace=kube-system", `--filename=${file}`);
    await waitForLeader();
    await waitUntil("the Job to end", async () => pods.said.find((text) => text !== ""));
    expect(pods.said).toEqual([
      "daemonset kube-system/landfall does not belong to this Helm release, so it was not deleted\n",
    ]);
    expect(await cluster.findHolder(LEASE.name)).not.toBe("");
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
      const install = (): Promise<string> =>
        runGuide(`kubectl apply -f deploy/manifests/${kind}.yaml`);
      await install();
      await waitForLeader();
      const commands = await readGuide(REMOVAL, kind);
      expect(commands).toHaveLength(2);
      for (const command of commands) await runGuide(command);
      expect(await cluster.findHolder(LEASE.name)).toBe("");
      expect(await listLeft()).toEqual([]);
      await expectQuickLead(install);
      for (const command of commands) await runGuide(command);
    },
  );

  test("of the manifests is stored as it is written wherever one manager owns a whole", async () => {
    await runGuide("kubectl apply -f deploy/manifests/daemonset.yaml");
    const file = join(manifests, "manifests/daemonset.yaml");
    const stored = await runKubectl("get", "--output=json", `--filename=${file}`);
    const { items } = JSON.parse(stored) as { readonly items: readonly Manifest[] };
    const written = readManifests(await readFile(file, "utf8")).flatMap(listWholes);
    expect(items.flatMap(listWholes).toSorted()).toEqual(written.toSorted());
    expect(written.filter((line) => line.includes("fieldRef"))).toHaveLength(3);
    await waitForLeader();
    for (const command of await readGuide(REMOVAL)) await runGuide(command);
  });

  describe("of the manifests", () => {
    beforeEach(async () => {
      await runGuide("kubectl apply -f deploy/manifests/daemonset.yaml");
      await waitForLeader();
    });
    afterEach(async () => {
      await runHelm("uninstall", "landfall");
      expect(await listLeft()).toEqual([]);
    });

    test("becomes one of the chart as install.md tells, and is upgraded with no more words", async () => {
      const commands = await readGuide("--take-ownership");
      expect(commands).toHaveLength(2);
      for (const command of commands) await runGuide(command);
      await runHelm("upgrade", "landfall", CHART, `--set=${SAME_IMAGE},logVerbosityLevel=4`);
      expect(await readArgs()).toContain("--v=4");
      await runHelm("upgrade", "landfall", CHART, `--set=${SAME_IMAGE},service.enabled=false`);
      expect(await readArgs()).toContain("--v=2");
      expect(await listLeft()).not.toContain("services landfall");
    });

    test("is taken over by a plain installation, too, since both apply the same", async () => {
      await runHelm(...PLAIN, CHART, `--set=${SAME_IMAGE}`);
      expect(await readArgs()).toContain("--v=2");
      const upgrade = ["upgrade", "landfall", CHART, `--set=${SAME_IMAGE},logVerbosityLevel=4`];
      // kubectl still owns the arguments, too.
      const failed = await runHelm(...upgrade).then(() => "", String);
      if (isServerSide) {
        expect(failed).toContain('conflict with "kubectl-client-side-apply"');
        await runHelm(...upgrade, "--force-conflicts");
      }
      expect(await readArgs()).toContain("--v=4");
    });

    test("becomes one of the chart after somebody changed it by hand, and Helm failed", async () => {
      await runKubectl(
        "--namespace=kube-system",
        "patch",
        "daemonset/landfall",
        "--type=json",
        '--patch=[{"op":"replace","path":"/spec/template/spec/containers/0/args/7","value":"--v=3"}]',
      );
      expect(await readArgs()).toContain("--v=3");
      // Helm 3 merges, Helm 4 refuses and leaves a release that failed.
      const failed = await runHelm(...PLAIN, CHART, `--set=${SAME_IMAGE}`).then(() => "", String);
      if (isServerSide) expect(failed).toContain("conflict");
      else expect(failed).toBe("");
      for (const command of await readGuide("--take-ownership")) await runGuide(command);
      expect(await readArgs()).toContain("--v=2");
      await runHelm("upgrade", "landfall", CHART, `--set=${SAME_IMAGE},logVerbosityLevel=4`);
      expect(await readArgs()).toContain("--v=4");
    });
  });

  test("of the chart becomes one of the manifests as install.md tells, and is upgraded", async () => {
    await runHelm("install", "landfall", CHART, `--set=${SAME_IMAGE}`);
    await waitForLeader();
    const commands = await readGuide(
      "helm uninstall landfall --namespace kube-system\nkubectl apply",
    );
    for (const command of commands) await runGuide(command);
    await waitForLeader();
    const file = join(manifests, "manifests/daemonset.yaml");
    const text = await readFile(file, "utf8");
    await writeFile(file, text.replace("--v=2", "--v=4"));
    await runGuide("kubectl apply -f deploy/manifests/daemonset.yaml");
    expect(await readArgs()).toContain("--v=4");
    await writeFile(file, text);
    for (const command of await readGuide(REMOVAL)) await runGuide(command);
    expect(await listLeft()).toEqual([]);
  });
});

/** The newest Helm, and Helm 3. */
async function listHelms(): Promise<
  readonly { readonly name: string; readonly helm: string; readonly isServerSide: boolean }[]
> {
  const found = await Promise.all([findHelm(), findHelm3()]);
  const helms = new Map<string, string>();
  for (const helm of found) {
    if (helm === undefined) continue;
    const version = await requireTool(helm, ["version", "--short"]);
    helms.set(/^v\d+/.exec(version)?.[0] ?? version, helm);
  }
  // From version 4 on Helm applies on the server's side, where fields have owners.
  return [...helms].map(([major, helm]) => ({
    name: `Helm ${major}`,
    helm,
    isServerSide: major !== "v3",
  }));
}

/**
 * Fields of our objects that one manager alone can own (`x-kubernetes-map-type: atomic` and lists without keys in the
 * OpenAPI of Kubernetes 1.35): where two write them differently, if only by a default, there is a conflict.
 */
const ATOMIC = new Set(
  (
    "args drop fieldRef labelSelector nodeSelectorTerms podAffinityTerm " +
    "preferredDuringSchedulingIgnoredDuringExecution roleRef rules selector subjects tolerations"
  ).split(" "),
);

function listWholes(object: Manifest): string[] {
  const found: string[] = [];
  const visit = (value: unknown, path: string): void => {
    if (typeof value !== "object" || value === null) return;
    for (const [key, child] of Object.entries(value)) {
      if (ATOMIC.has(key)) found.push(`${path}.${key}: ${toSorted(child)}`);
      else if (key !== "metadata" || path !== object.kind) visit(child, `${path}.${key}`);
    }
  };
  visit(object, object.kind);
  return found.toSorted();
}

/** JSON that is the same whatever the order of keys. */
function toSorted(value: unknown): string {
  return JSON.stringify(value, (_, one: unknown) =>
    typeof one === "object" && one !== null && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).toSorted())
      : one,
  );
}

interface Workload {
  readonly spec: {
    readonly template: {
      readonly spec: { readonly containers: readonly { readonly args: readonly string[] }[] };
    };
  };
}
