/**
 * The CRDs of Vinos and IPPools and their samples, with a real kubectl and a real API server.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { toYamlFile, toYaml } from "../../../deploy/yaml.ts";
import { IP_POOL_KIND, VINO_KIND } from "../../../lib/controllers/vino/resource/crd.ts";
import { IP_POOLS, type IpPool } from "../../../lib/controllers/vino/resource/ip_pool.ts";
import { type Vino, VINOES } from "../../../lib/controllers/vino/resource/vino.ts";
import { type KubeObject, type Resource, toPath } from "../../../lib/kube/kinds/resource.ts";
import { type Manifest, requireTool } from "../../support/deploy/deploy_tools.ts";
import { readJson } from "../../support/kube/contract/client.ts";
import { CRDS_PATH } from "../../support/kube/kinds/crd.ts";
import { findKubectl } from "../../support/kube/kubectl.ts";
import { type Cluster, skipsCluster, startCluster } from "../../support/process/cluster.ts";
import { readVinoSample, toVinoSamplePath, VINO_SAMPLES } from "../../support/vino/samples.ts";
import { RIGHT_VINOS, WRONG_POOLS, WRONG_VINOS } from "../../support/vino/spec_cases.ts";

const KINDS = [VINO_KIND, IP_POOL_KIND];
const START_TIMEOUT_MS = 120_000;
const kubectl = skipsCluster() ? undefined : await findKubectl();

describe.skipIf(kubectl === undefined)("a real API server with the CRDs", () => {
  let cluster: Cluster;

  beforeAll(async () => {
    cluster = await startCluster();
    const file = join(cluster.folder, "crd.yaml");
    await writeFile(
      file,
      toYamlFile(
        "Test.",
        KINDS.map(({ crd }) => toYaml(crd)),
      ),
    );
    // Only an API server older than what Landfall supports does not know of rules; it drops them.
    await run("apply", "--validate=false", "-f", file);
    await run("wait", "--for=condition=Established", "--timeout=60s", "crd", "--all");
  }, START_TIMEOUT_MS);

  afterAll(() => cluster.stop());

  function run(...args: string[]): Promise<string> {
    return requireTool(kubectl ?? "", [
      `--kubeconfig=${cluster.adminKubeconfigPath}`,
      `--cache-dir=${join(cluster.folder, "kubectl-cache")}`,
      ...args,
    ]);
  }

  test.each(KINDS.map(({ crd }) => crd.metadata.name))(
    "accepts the names and the schema of %s",
    async (name) => {
      const { status } = await readJson<{
        status: { conditions: readonly { type: string; status: string }[] };
      }>(await cluster.adminFetch(`${CRDS_PATH}/${name}`));
      const conditions = status.conditions.map((one) => `${one.type}=${one.status}`);
      expect(conditions.toSorted()).toEqual(["Established=True", "NamesAccepted=True"]);
    },
  );

  test.each(VINO_SAMPLES)("takes the sample %s as it is, and keeps every value", async (sample) => {
    await run("apply", "-f", toVinoSamplePath(sample));
    for (const object of await readVinoSample(sample)) {
      if (object.kind === "Secret") continue;
      const { name, namespace = "" } = object.metadata;
      const found: Manifest = JSON.parse(
        await run("get", object.kind, name, `--namespace=${namespace}`, "--output=json"),
      );
      expect(found.metadata).toMatchObject(object.metadata);
      // Defaults come in addition.
      expect(found.spec ?? {}).toMatchObject(object.spec ?? {});
    }
  });

  test("sets defaults for the whole Vino, and none that would hide them for a role", async () => {
    const path = toPath(VINOES, { namespace: "metal", name: "wordpress" });
    const { spec } = await readJson<Vino>(await cluster.adminFetch(path));
    expect(spec?.xenOrchestra).toMatchObject({
      countPer: "Host",
      boot: "Template",
      failureDomain: "None",
      userDataSecret: { key: "userData" },
    });
    expect(spec?.nodes?.map(({ xenOrchestra }) => xenOrchestra)).toEqual([
      { countPer: "Total" },
      { cpus: 8, memory: "32Gi" },
    ]);
  });

  test("keeps the whole status, and shows it at a glance", async () => {
    const path = toPath(VINOES, { namespace: "metal", name: "wordpress" });
    const status: Vino["status"] = {
      observedGeneration: 1,
      conditions: [
        {
          type: "Ready",
          status: "False",
          reason: "Progressing",
          message: "Machines are made",
          lastTransitionTime: "2026-01-01T00:00:00Z",
          observedGeneration: 1,
        },
      ],
      counts: { wanted: 9, machines: 2, ready: 1, published: 1, summary: "1/9" },
      machines: [
        {
          name: "vino-1a2b3c4d-worker-0",
          role: "worker",
          index: 0,
          host: "h1",
          machineId: "m1",
          address: "203.0.113.20",
          state: "Creating",
          message: "The cloud makes it",
          record: "task=t1",
        },
      ],
    };
    const response = await cluster.adminFetch(`${path}/status`, {
      method: "PATCH",
      headers: { "Content-Type": "application/merge-patch+json" },
      body: JSON.stringify({ status }),
    });
    expect(response.status).toBe(200);
    const kept = await readJson<Vino>(await cluster.adminFetch(path));
    expect(kept.status).toEqual(status);
    const lines = (await run("get", "vino", "--namespace=metal")).trim().split("\n");
    expect(lines.map((line) => line.split(/ {2,}/).slice(0, 5))).toEqual([
      ["NAME", "READY", "REASON", "MACHINES", "HOSTS"],
      ["wordpress", "False", "Progressing", "1/9", "1"],
    ]);
  });

  test("shows the subnet of a pool, and gives it no status of its own", async () => {
    const lines = (await run("get", "ippool", "--namespace=all-fields")).trim().split("\n");
    expect(lines.map((line) => line.split(/ {2,}/).slice(0, 2))).toEqual([
      ["NAME", "SUBNET"],
      ["ippool-192-0-2-0-24", "192.0.2.0/24"],
      ["ippool-2001-db8-0-1---64", "2001:db8:0:1::/64"],
    ]);
    const name = "ippool-192-0-2-0-24";
    const path = toPath(IP_POOLS, { namespace: "all-fields", name });
    const pool = await readJson<IpPool>(await cluster.adminFetch(path));
    expect(Object.keys(pool).toSorted()).toEqual(["apiVersion", "kind", "metadata", "spec"]);
    expect((await cluster.adminFetch(`${path}/status`)).status).toBe(404);
  });

  test("explains fields", async () => {
    const text = await run("explain", "vino.spec.xenOrchestra.deletionPolicy");
    expect(text.replaceAll(/\s+/g, " ")).toContain("Retain: they stay as they are.");
  });

  /** The status of the answer to an object that is not kept. */
  async function trySpec(resource: Resource<KubeObject>, spec: unknown): Promise<number> {
    const { apiVersion, kind } = resource;
    const body = JSON.stringify({ apiVersion, kind, metadata: { name: "try" }, spec });
    const path = `${toPath(resource, { namespace: "default" })}?dryRun=All`;
    const headers = { "Content-Type": "application/json" };
    return (await cluster.adminFetch(path, { method: "POST", headers, body })).status;
  }

  test.each(RIGHT_VINOS.map(({ title, spec }) => [title, spec] as const))(
    "takes a Vino with %s",
    async (_title, spec) => {
      expect(await trySpec(VINOES, spec)).toBe(201);
    },
  );

  test.each([
    ...WRONG_VINOS.map((one) => [one.title, one.refusedBy, VINOES, one.spec] as const),
    ...WRONG_POOLS.map((one) => [one.title, one.refusedBy, IP_POOLS, one.spec] as const),
  ])("answers rightly to %s, which %s refuse", async (_title, refusedBy, resource, spec) => {
    // This server knows no rules.
    expect(await trySpec(resource, spec)).toBe(refusedBy === "types" ? 422 : 201);
  });
});
