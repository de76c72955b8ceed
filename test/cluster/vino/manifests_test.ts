/**
 * The manifests of the controller of Vinos on a real API server, with the role of its guide in a simulated Xen
 * Orchestra: both are enough to make VMs, to publish them, and to remove them again.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Vino } from "../../../lib/controllers/vino/resource/vino.ts";
import { VINOES } from "../../../lib/controllers/vino/resource/vino.ts";
import { VINO_MACHINES } from "../../../lib/controllers/vino/resource/vino_machine.ts";
import { CONFIRMED_REMOVAL } from "../../../lib/controllers/vino/words.ts";
import { systemClock } from "../../../lib/core/clock.ts";
import { BARE_METAL_HOSTS } from "../../../lib/kube/kinds/bare_metal_host.ts";
import { type KubeObject, type Resource, toPath } from "../../../lib/kube/kinds/resource.ts";
import {
  createMachineSite,
  startXenOrchestraSimulator,
  type XenOrchestraSimulator,
} from "../../../lib/simulator/xenorchestra/mod.ts";
import { ROLE, USER } from "../../providers/xenorchestra/machines/rig.ts";
import { readManifests } from "../../support/deploy/deploy_tools.ts";
import { findKubectl } from "../../support/kube/kubectl.ts";
import { Account } from "../../support/process/account.ts";
import { readJson } from "../../support/kube/contract/client.ts";
import { CRDS_PATH } from "../../support/kube/crd.ts";
import { until } from "../../support/nodes/rig.ts";
import { type Cluster, skipsCluster, startCluster } from "../../support/process/cluster.ts";
import {
  type LandfallProcess,
  PROGRAM,
  parseRecord,
  startLandfall,
} from "../../support/process/landfall_process.ts";
import { readBareMetalHostCrd } from "../../support/metal3/bare_metal_host_crd.ts";
import { readSource } from "../../support/sources.ts";

const FOLDER = "deploy/manifests/vino";
const NAMESPACE = "metal";
const NAME = "edge";
const WAIT_MS = 60_000;
/** In which nothing is bound. */
const UNNAMED = "unnamed";

const SPEC = {
  networks: [
    {
      name: "oam",
      subnet: "192.0.2.0/24",
      staticAllocationStart: "192.0.2.10",
      staticAllocationStop: "192.0.2.20",
    },
  ],
  nodes: [{ name: "worker", count: 2, networkInterfaces: [{ name: "oam", network: "oam" }] }],
  xenOrchestra: {
    pool: "paris",
    template: "vino-debian",
    cpus: 2,
    memory: "2Gi",
    countPer: "Total",
    deletionPolicy: "Delete",
  },
};

const kubectl = skipsCluster() ? "" : ((await findKubectl()) ?? "");

describe.skipIf(kubectl === "")("the manifests and the role of the controller vino", () => {
  let cluster: Cluster;
  let cloud: XenOrchestraSimulator;
  let landfall: LandfallProcess;
  let start: () => LandfallProcess;

  const read = async <T extends KubeObject>(kind: Resource<T>, name = ""): Promise<T[]> => {
    const response = await cluster.adminFetch(toPath(kind, { namespace: NAMESPACE, name }));
    if (!response.ok) return [];
    const found = await readJson<T & { readonly items?: T[] }>(response);
    return found.items ?? [found];
  };
  const listVms = (): string[] => {
    const names = cloud.state.list("vms").map((vm) => String(vm["name_label"]));
    return names.filter((name) => name.startsWith("vino-"));
  };
  const readReady = async (): Promise<unknown> => {
    const [vino] = await read<Vino>(VINOES, NAME);
    return vino?.status?.conditions?.find(({ type }) => type === "Ready");
  };

  beforeAll(async () => {
    cluster = await startCluster();
    const { world } = createMachineSite();
    cloud = await startXenOrchestraSimulator({
      clock: systemClock,
      world,
      users: [{ ...USER, privileges: ROLE }],
    });
    const crds = readManifests(await readSource(`${FOLDER}/crd.yaml`));
    for (const crd of [...crds, await readBareMetalHostCrd()]) await cluster.create(CRDS_PATH, crd);
    const objects = readManifests(await readSource(`${FOLDER}/deployment.yaml`));
    const account = await Account.install({ cluster, kubectl, controller: "vino" });
    for (const name of [NAMESPACE, UNNAMED])
      await cluster.create("/api/v1/namespaces", { metadata: { name } });
    await account.bind(NAMESPACE, "tenant");
    const { template } = Object(objects.find(({ kind }) => kind === "Deployment")?.spec);
    const args: string[] = template.spec.containers[0].args;
    const config = join(cluster.folder, "vino.yaml");
    await writeFile(config, `url: ${cloud.url}\ntoken: ${cloud.token}\n`);
    const kubeconfig = await account.writeKubeconfig();
    start = () =>
      startLandfall(PROGRAM ?? { name: "none", command: [] }, [
        ...args.slice(1).filter((arg) => !/^--(secure-port|debug-address|cloud-config)=/.test(arg)),
        `--cloud-config=${config}`,
        `--kubeconfig=${kubeconfig}`,
        "--secure-port=0",
        "--debug-address=",
        "--logging-format=json",
      ]);
    landfall = start();
  }, 120_000);
  afterAll(async () => {
    landfall?.signal("SIGKILL");
    await Promise.all([cloud?.stop(), cluster?.stop()]);
  });

  test("make VMs and publish each as a host with its Secret", async () => {
    await landfall.waitForRecord(({ message }) => message === "Became leader");
    const { apiVersion, kind } = VINOES;
    const path = toPath(VINOES, { namespace: NAMESPACE });
    const vino = { apiVersion, kind, metadata: { name: NAME }, spec: SPEC };
    await until("the kind is served", async () => (await cluster.adminFetch(path)).ok, WAIT_MS);
    await cluster.create(path, vino);
    const isReady = async (): Promise<boolean> => Object(await readReady()).status === "True";
    await until("the Vino is ready", isReady, WAIT_MS).catch(async (error) => {
      throw new Error(`${error}: ${JSON.stringify(await readReady())}\n${landfall.log}`);
    });
    expect(listVms()).toHaveLength(2);
    const hosts = await read(BARE_METAL_HOSTS);
    expect(hosts.map(({ metadata }) => metadata.name).toSorted()).toEqual([
      "edge-worker-0",
      "edge-worker-1",
    ]);
  }, 90_000);

  test("remove all of it with the Vino", async () => {
    const path = toPath(VINOES, { namespace: NAMESPACE, name: NAME });
    await cluster.adminFetch(path, { method: "DELETE" });
    const [vino] = await read<Vino>(VINOES, NAME);
    const annotations = { [CONFIRMED_REMOVAL]: String(vino?.metadata.generation) };
    await cluster.adminFetch(path, {
      method: "PATCH",
      headers: { "content-type": "application/merge-patch+json" },
      body: JSON.stringify({ metadata: { annotations } }),
    });
    const isGone = async (): Promise<boolean> => (await read(VINOES, NAME)).length === 0;
    await until("the Vino is gone", isGone, WAIT_MS).catch(async (error) => {
      throw new Error(`${error}: ${JSON.stringify(await readReady())}\n${landfall.log}`);
    });
    expect(await read(BARE_METAL_HOSTS)).toEqual([]);
    expect(await read(VINO_MACHINES)).toEqual([]);
    expect(listVms()).toEqual([]);
  }, 90_000);

  test("give no reason for a warning", async () => {
    expect((await landfall.stop()).code).toBe(0);
    const lines = landfall.log.split("\n");
    const records = lines.map(parseRecord).filter((one) => one !== undefined);
    expect(records.length).toBeGreaterThan(4);
    // An API server may have forgotten the first versions of a kind that is only seconds old.
    const bad = records.filter(({ level, reason }) => level !== "info" && reason !== "gone");
    expect(bad).toEqual([]);
  });

  test("say which right is missing where nothing is bound", async () => {
    landfall = start();
    const { apiVersion, kind } = VINOES;
    const path = toPath(VINOES, { namespace: UNNAMED });
    await cluster.create(path, { apiVersion, kind, metadata: { name: "other" }, spec: SPEC });
    const says = async (): Promise<string> => {
      const answer = await cluster.adminFetch(`${path}/other`);
      const { status } = await readJson<Vino>(answer);
      const conditions = status?.conditions ?? [];
      return conditions
        .map(({ type, reason, message }) => `${type} ${reason} ${message}`)
        .join("\n");
    };
    const right = 'cannot create resource "vinomachines"';
    const wanted = new RegExp(
      `MachinesReady Forbidden.* ${right} .* in the namespace "${UNNAMED}".*bind its ClusterRole`,
    );
    const isSaid = async (): Promise<boolean> => wanted.test(await says());
    await until("it is said", isSaid, WAIT_MS).catch(async (error) => {
      throw new Error(`${error}: ${await says()}`);
    });
    // No machine is made whose record has no place.
    expect(listVms()).toEqual([]);
    await cluster.adminFetch(`${path}/other`, { method: "DELETE" });
  }, 90_000);
});
