/**
 * The CRDs of Vinos, VinoMachines and IPPools and their samples, with a real kubectl and a real API server.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { toYaml, toYamlFile } from "../../../deploy/yaml.ts";
import {
  IP_POOL_KIND,
  VINO_KIND,
  VINO_MACHINE_KIND,
} from "../../../lib/controllers/vino/resource/crd.ts";
import { IP_POOLS, type IpPool } from "../../../lib/controllers/vino/resource/ip_pool.ts";
import { type Vino, VINOES } from "../../../lib/controllers/vino/resource/vino.ts";
import {
  VINO_MACHINES,
  type VinoMachine,
} from "../../../lib/controllers/vino/resource/vino_machine.ts";
import { toPath } from "../../../lib/kube/kinds/resource.ts";
import { KIND_SERVER_TIMEOUT_MS, KindServer } from "../../support/kinds/kind_server.ts";
import { VINO_SAMPLES } from "../../support/kinds/samples.ts";
import { findKubectl } from "../../support/kube/kubectl.ts";
import { skipsCluster } from "../../support/process/cluster.ts";
import { ROOT } from "../../support/sources.ts";
import { RIGHT_VINOS, WRONG_POOLS, WRONG_VINOS } from "../../support/vino/spec_cases.ts";

const CRDS = [VINO_KIND, VINO_MACHINE_KIND, IP_POOL_KIND].map(({ crd }) => crd);
const kubectl = skipsCluster() ? undefined : await findKubectl();

describe.skipIf(kubectl === undefined)("a real API server with the CRDs", () => {
  let server: KindServer;

  beforeAll(async () => {
    const text = toYamlFile(
      "Test.",
      CRDS.map((crd) => toYaml(crd)),
    );
    server = await KindServer.start(kubectl ?? "", text);
  }, KIND_SERVER_TIMEOUT_MS);

  afterAll(() => server.stop());

  test.each(CRDS.map(({ metadata }) => metadata.name))(
    "accepts the names and the schema of %s",
    (name) => server.expectAccepted(name),
  );

  test.each(VINO_SAMPLES.names)("takes the sample %s, and keeps every value", async (name) => {
    await server.expectKept(VINO_SAMPLES.toPath(name), await VINO_SAMPLES.read(name));
  });

  test("sets defaults for the whole Vino, and none that would hide them for a role", async () => {
    const path = toPath(VINOES, { namespace: "metal", name: "wordpress" });
    const { spec } = await server.read<Vino>(path);
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
        {
          type: "MachinesDiffer",
          status: "True",
          reason: "StopNeeded",
          message: "1 complete machine differs from the spec",
          lastTransitionTime: "2026-01-01T00:00:00Z",
          observedGeneration: 1,
        },
      ],
      counts: { wanted: 9, machines: 2, ready: 1, unwanted: 3, published: 1, summary: "1/9" },
    };
    expect(await server.patchStatus(path, status)).toBe(200);
    const kept = await server.read<Vino>(path);
    expect(kept.status).toEqual(status);
    expect(await server.getColumns("vino", "metal", 6)).toEqual([
      ["NAME", "READY", "REASON", "MACHINES", "UNWANTED", "HOSTS"],
      ["wordpress", "False", "Progressing", "1/9", "3", "1"],
    ]);
    const wide = await server.getColumns("vino", "metal", 7, "--output=wide");
    expect(wide.map(([name, ...more]) => [name, more.at(-1)])).toEqual([
      ["NAME", "DIFFERENCES"],
      ["wordpress", "StopNeeded"],
    ]);
  });

  test("keeps a whole VinoMachine, shows it at a glance, and lets nobody make it another one", async () => {
    const spec: VinoMachine["spec"] = {
      vinoName: "wordpress",
      vinoUid: "1a2b3c4d-2fa1-11d2-883f-0016d3cca427",
      machineName: "vino-1a2b3c4d-worker-0",
      role: "worker",
      index: 0,
      host: "h1",
      hostDisplayName: "xcp-1",
      template: "debian",
      cpus: 2,
      memoryBytes: 4 * 1024 ** 3,
      disks: [{ name: "root", sizeBytes: 20 * 1024 ** 3, storage: "fast" }],
      interfaces: [
        { name: "eth0", network: "oam", mac: "02:00:00:00:00:01", addresses: ["203.0.113.20"] },
      ],
    };
    const status: VinoMachine["status"] = {
      conditions: ["Made", "Complete", "Published", "Differs", "Removed"].map((type) => ({
        type,
        status: "False",
        reason: "Progressing",
        message: "",
        lastTransitionTime: "2026-01-01T00:00:00Z",
      })),
      state: "Creating",
      message: "The cloud makes it",
      machineId: "m1",
      address: "203.0.113.20",
      power: "running",
      bareMetalHost: "Publishing",
      differences: [{ name: "CPUs", wanted: "4", actual: "2" }],
      record: "task=t1",
    };
    const { apiVersion, kind } = VINO_MACHINES;
    const name = "wordpress-worker-0";
    const list = toPath(VINO_MACHINES, { namespace: "metal" });
    const path = toPath(VINO_MACHINES, { namespace: "metal", name });
    await server.cluster.create(list, { apiVersion, kind, metadata: { name }, spec });
    expect(await server.patchStatus(path, status)).toBe(200);
    const kept = await server.read<VinoMachine>(path);
    expect([kept.spec, kept.status]).toEqual([spec, status]);
    expect(await server.getColumns("vmach", "metal", 7)).toEqual([
      ["NAME", "ROLE", "HOST", "STATE", "ADDRESS", "VM", "BAREMETALHOST"],
      [name, "worker", "xcp-1", "Creating", "203.0.113.20", "m1", "Publishing"],
    ]);
    const change = async (body: object): Promise<number> => {
      const headers = { "content-type": "application/merge-patch+json" };
      const init = { method: "PATCH", headers, body: JSON.stringify({ spec: body }) };
      return (await server.cluster.adminFetch(path, init)).status;
    };
    expect(await change({ host: "h2", cpus: null })).toBe(200);
    for (const fixed of [{ index: 1 }, { role: "master" }, { vinoUid: "x" }, { vinoName: "x" }]) {
      expect(await change(fixed)).toBe(422);
    }
    expect(await change({ machineName: "web-1" })).toBe(422);
  });

  test("shows the subnet of a pool, and gives it no status of its own", async () => {
    expect(await server.getColumns("ippool", "all-fields", 2)).toEqual([
      ["NAME", "SUBNET"],
      ["ippool-192-0-2-0-24", "192.0.2.0/24"],
      ["ippool-2001-db8-0-1---64", "2001:db8:0:1::/64"],
    ]);
    const name = "ippool-192-0-2-0-24";
    const path = toPath(IP_POOLS, { namespace: "all-fields", name });
    const pool = await server.read<IpPool>(path);
    expect(Object.keys(pool).toSorted()).toEqual(["apiVersion", "kind", "metadata", "spec"]);
    expect((await server.cluster.adminFetch(`${path}/status`)).status).toBe(404);
  });

  test("keeps its objects when the folder of the manifests is deleted", async () => {
    const folder = join(server.cluster.folder, "vino");
    await cp(join(ROOT, "deploy/manifests/vino"), folder, { recursive: true });
    const group = "--api-group=admissionregistration.k8s.io";
    const kinds = await server.run("api-resources", group, "--output=name");
    if (!kinds.includes("validatingadmissionpolicies")) {
      // As the guide says.
      const file = join(folder, "kustomization.yaml");
      const text = await readFile(file, "utf8");
      await writeFile(file, text.replace("components: [admission-policy]\n", ""));
    }
    await server.run("apply", "-k", folder);
    const gone = await server.run("delete", "--wait=false", "-k", folder);
    expect(gone).toContain('deployment.apps "landfall-vino" deleted');
    expect(gone).not.toContain("customresourcedefinition");
    expect(await server.getColumns("vino", "metal", 1)).toEqual([["NAME"], ["wordpress"]]);
  });

  test("explains fields", async () => {
    const text = await server.run("explain", "vino.spec.xenOrchestra.deletionPolicy");
    expect(text.replaceAll(/\s+/g, " ")).toContain("Retain: they stay as they are.");
  });

  test.each(RIGHT_VINOS.map(({ title, spec }) => [title, spec] as const))(
    "takes a Vino with %s",
    async (_title, spec) => {
      expect(await server.trySpec(VINOES, spec)).toBe(201);
      expect(await server.trySpec(VINOES, spec, "a".repeat(64))).toBe(422);
    },
  );

  test.each([
    ...WRONG_VINOS.map((one) => [one.title, one.refusedBy, VINOES, one.spec] as const),
    ...WRONG_POOLS.map((one) => [one.title, one.refusedBy, IP_POOLS, one.spec] as const),
  ])("answers rightly to %s, which a %s refuses", async (_title, refusedBy, resource, spec) => {
    expect(await server.trySpec(resource, spec)).toBe(refusedBy === "check" ? 201 : 422);
  });
});
