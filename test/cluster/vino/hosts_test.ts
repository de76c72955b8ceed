/**
 * BareMetalHosts and Secrets of machines on a real API server with a schema of metal3, and a real garbage collector.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { AddressReader } from "../../../lib/controllers/sipcluster/hosts/address_reader.ts";
import { toBareMetalHost } from "../../../lib/controllers/vino/hosts/publish/host_writer.ts";
import {
  toSecretBody,
  toSecrets,
} from "../../../lib/controllers/vino/hosts/publish/secret_writer.ts";
import type { WantedHost } from "../../../lib/controllers/vino/hosts/types.ts";
import { VINO_KIND } from "../../../lib/controllers/vino/resource/crd.ts";
import { VINOES } from "../../../lib/controllers/vino/resource/vino.ts";
import { systemClock } from "../../../lib/core/clock.ts";
import { BARE_METAL_HOSTS, type BareMetalHost } from "../../../lib/kube/kinds/bare_metal_host.ts";
import { type KubeObject, type Resource, toPath } from "../../../lib/kube/kinds/resource.ts";
import { type Secret, SECRETS } from "../../../lib/kube/kinds/secret.ts";
import { loadCredentials } from "../../../lib/kube/credentials/mod.ts";
import { readJson } from "../../support/kube/contract/client.ts";
import { CRDS_PATH } from "../../support/kube/crd.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { until } from "../../support/nodes/rig.ts";
import { type Cluster, startCluster } from "../../support/process/cluster.ts";
import {
  startControllerManager,
  skipsRunningPods,
} from "../../support/process/kube_controllers.ts";
import { readBareMetalHostCrd, toHostStatus } from "../../support/metal3/bare_metal_host_crd.ts";
import {
  publishEach,
  type PublishedHosts,
  type PublishRequest,
  type RunningPublisher,
  runPublisher,
} from "../../support/vino/publisher_rig.ts";
import { BMC, OWNER, toWanted } from "../../support/vino/wanted_hosts.ts";

const NAMESPACE = OWNER.namespace;
const HOST = "edge-worker-0";
const DATA = `${HOST}-network-data`;
const WAIT_MS = 30_000;
const TIMEOUT_MS = 60_000;
const { signal } = new AbortController();
const skips = await skipsRunningPods();

describe.skipIf(skips)("hosts of a Vino on a real API server", () => {
  let cluster: Cluster;
  let manager: ReturnType<typeof startControllerManager>;
  let running: RunningPublisher;
  let owner = OWNER;

  beforeAll(async () => {
    cluster = await startCluster();
    for (const crd of [await readBareMetalHostCrd(), VINO_KIND.crd])
      await cluster.create(CRDS_PATH, crd);
    await until("the kinds are served", async () => (await get(VINOES, "")) !== undefined, WAIT_MS);
    await until("hosts, too", async () => (await get(BARE_METAL_HOSTS, "")) !== undefined, WAIT_MS);
    await cluster.create("/api/v1/namespaces", { metadata: { name: NAMESPACE } });
    await create(VINOES, { metadata: { name: OWNER.name }, spec: {} });
    const vino = await get(VINOES, OWNER.name);
    owner = { ...OWNER, uid: vino?.metadata.uid ?? "" };
    const credentials = await loadCredentials({
      kubeconfig: cluster.adminKubeconfigPath,
      env: {},
      clock: systemClock,
    });
    running = runPublisher({ credentials, clock: new ManualClock(), vino: vino ?? failed() });
    manager = startControllerManager(cluster, ["garbagecollector"]);
  }, 120_000);
  afterAll(async () => {
    await running?.stop();
    await manager?.stop("SIGKILL");
    await cluster?.stop();
  });

  async function create(kind: Resource<KubeObject>, object: object): Promise<void> {
    const { apiVersion, kind: name } = kind;
    await cluster.create(toPath(kind, { namespace: NAMESPACE }), {
      apiVersion,
      kind: name,
      ...object,
    });
  }
  /** @param name Empty: the list */
  async function get<T extends KubeObject>(
    kind: Resource<T>,
    name: string,
  ): Promise<T | undefined> {
    const path = toPath(kind, { namespace: NAMESPACE, ...(name !== "" && { name }) });
    const answer = await cluster.adminFetch(path);
    return answer.ok ? await readJson<T>(answer) : undefined;
  }
  async function patch(
    kind: Resource<KubeObject>,
    name: string,
    body: object,
    part = "",
  ): Promise<number> {
    const path = `${toPath(kind, { namespace: NAMESPACE, name })}${part}`;
    const headers = { "content-type": "application/merge-patch+json" };
    const init = { method: "PATCH", headers, body: JSON.stringify(body) };
    return (await cluster.adminFetch(path, init)).status;
  }
  const remove = (kind: Resource<KubeObject>, name: string): Promise<Response> =>
    cluster.adminFetch(toPath(kind, { namespace: NAMESPACE, name }), { method: "DELETE" });

  /** The versions of all hosts and Secrets. */
  async function listVersions(): Promise<readonly string[]> {
    const lists = [BARE_METAL_HOSTS, SECRETS].map(async (kind) => {
      const answer = await cluster.adminFetch(toPath(kind, { namespace: NAMESPACE }));
      const { items } = await readJson<{ readonly items: readonly KubeObject[] }>(answer);
      return items.map(({ metadata }) => `${metadata.uid} ${metadata.resourceVersion}`);
    });
    return (await Promise.all(lists)).flat();
  }

  const toOwned = (
    index: number,
    host: Partial<WantedHost> = {},
    source: object = {},
  ): WantedHost => toWanted(index, host, { owner, ...source });

  /** Publishes until nothing is written any more. */
  async function publish(request: Partial<PublishRequest>): Promise<PublishedHosts> {
    const nothing = { owner, hosts: [], unwanted: [], paused: new Set<string>() };
    let published: PublishedHosts | undefined;
    let before = await listVersions();
    await until(
      "nothing is left to write",
      async () => {
        const whole = { ...nothing, publishesMoved: false, ...request };
        published = await publishEach(running.publisher, whole, signal);
        await Bun.sleep(50);
        const after = await listVersions();
        const isSame = isDeepStrictEqual(before, after);
        before = after;
        return isSame && published.againMs > 1_000;
      },
      WAIT_MS,
    );
    return published ?? failed();
  }

  test(
    "takes a host of each level whole, with metal3's schema",
    async () => {
      const hosts = [
        toOwned(0),
        toOwned(1, { bmc: { ...BMC, skipsCertificateCheck: true } }),
        toOwned(2, { bmc: BMC, power: "stopped", isExternallyProvisioned: false }),
      ];
      const { hosts: outcomes } = await publish({ hosts });
      expect(outcomes.map(({ state }) => state)).toEqual(["Published", "Published", "Published"]);
      for (const wanted of hosts) {
        const live = await get(BARE_METAL_HOSTS, wanted.name);
        // No field is unknown to the server.
        expect(live).toMatchObject(structuredClone(toBareMetalHost(owner, wanted)));
      }
    },
    TIMEOUT_MS,
  );

  test(
    "gives the Secrets to their hosts, and writes nothing at rest",
    async () => {
      const host = await get(BARE_METAL_HOSTS, HOST);
      const secret = await get<Secret>(SECRETS, DATA);
      expect(secret?.metadata.ownerReferences).toMatchObject([
        { kind: "BareMetalHost", name: HOST, uid: host?.metadata.uid },
      ]);
      const hosts = [0, 1].map((index) =>
        toOwned(index, index === 1 ? { bmc: { ...BMC, skipsCertificateCheck: true } } : {}),
      );
      await publish({ hosts });
      const after = await get<Secret>(SECRETS, DATA);
      expect(after?.metadata.resourceVersion).toBe(secret?.metadata.resourceVersion ?? "");
    },
    TIMEOUT_MS,
  );

  test(
    "lets labels follow the machine, and never loses a change of another program",
    async () => {
      await patch(BARE_METAL_HOSTS, HOST, { metadata: { labels: { mine: "yes" } } });
      const machine = { poolId: "p1", hostId: "h2", firstHostId: "h1" };
      await publish({ hosts: [toOwned(0, {}, { machine, bmhLabels: { tier: "gold" } })] });
      const host = await get(BARE_METAL_HOSTS, HOST);
      expect(host?.metadata.labels).toMatchObject({
        mine: "yes",
        tier: "gold",
        "vino.airshipit.org/host": "h2",
      });
      await publish({ hosts: [toOwned(0, {}, { machine })] });
      const { labels = {} } = (await get(BARE_METAL_HOSTS, HOST))?.metadata ?? {};
      expect([labels["mine"], labels["tier"]]).toEqual(["yes", undefined]);
    },
    TIMEOUT_MS,
  );

  test("has addresses that a SIPCluster finds", async () => {
    const reader = new AddressReader({
      client: running.client,
      clock: systemClock,
      periodMs: 600_000,
    });
    const host = await get<BareMetalHost>(BARE_METAL_HOSTS, HOST);
    const found = await reader.readAll([host ?? failed()], signal);
    expect([...found.values()]).toEqual([
      { addresses: new Map([["oam", "192.0.2.10"]]), problems: new Map() },
    ]);
  });

  test(
    "can be taken by Cluster API, which makes itself the controller of the host",
    async () => {
      // A Metal3Machine, as far as the garbage collector looks.
      await create(
        { apiVersion: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true },
        { metadata: { name: "m-1" } },
      );
      const machine = await get(
        { apiVersion: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true },
        "m-1",
      );
      const reference = { apiVersion: "v1", kind: "ConfigMap", name: "m-1", controller: true };
      const ownerReferences = [{ ...reference, uid: machine?.metadata.uid }];
      const spec = { consumerRef: { kind: "Metal3Machine", name: "m-1" }, online: true };
      expect(await patch(BARE_METAL_HOSTS, HOST, { metadata: { ownerReferences }, spec })).toBe(
        200,
      );
      const kept = await publish({ unwanted: [HOST] });
      expect(kept.unwanted.map(({ state, message }) => `${state}: ${message}`)).toEqual([
        `InUse: BareMetalHost ${HOST} is used by Metal3Machine "m-1": delete its Machine in Cluster API`,
      ]);
      const free = { metadata: { ownerReferences: [] }, spec: { consumerRef: null } };
      expect(await patch(BARE_METAL_HOSTS, HOST, free)).toBe(200);
      const status = toHostStatus("provisioned");
      expect(await patch(BARE_METAL_HOSTS, HOST, { status }, "/status")).toBe(200);
      expect((await publish({ unwanted: [HOST] })).unwanted[0]?.state).toBe("InUse");
      const clean = { status: toHostStatus("available") };
      expect(await patch(BARE_METAL_HOSTS, HOST, clean, "/status")).toBe(200);
    },
    TIMEOUT_MS,
  );

  test(
    "comes back with its Secret after a person deleted it",
    async () => {
      const before = await get(BARE_METAL_HOSTS, HOST);
      await remove(BARE_METAL_HOSTS, HOST);
      await publish({ hosts: [toOwned(0)] });
      await until("the host is another one", async () => {
        await publish({ hosts: [toOwned(0)] });
        const host = await get(BARE_METAL_HOSTS, HOST);
        return host !== undefined && host.metadata.uid !== before?.metadata.uid;
      });
      const host = await get(BARE_METAL_HOSTS, HOST);
      await until("the Secret is the new host's", async () => {
        const secret = await get<Secret>(SECRETS, DATA);
        return secret?.metadata.ownerReferences?.some(({ uid }) => uid === host?.metadata.uid);
      });
    },
    TIMEOUT_MS,
  );

  test(
    "takes its Secrets along when it goes, by the garbage collector",
    async () => {
      const { unwanted } = await publish({ unwanted: [HOST] });
      expect(unwanted[0]?.state).toBe("Gone");
      expect(await get(BARE_METAL_HOSTS, HOST)).toBeUndefined();
      await until("the Secret is gone", async () => !(await get(SECRETS, DATA)), WAIT_MS);
      // The other hosts keep theirs.
      expect(await get(SECRETS, "edge-worker-1-bmc-credentials")).toBeDefined();
    },
    TIMEOUT_MS,
  );

  test(
    "leaves no Secret of a host that was never made, once the Vino is gone",
    async () => {
      const host = toOwned(7);
      const [secret = failed()] = toSecrets({ owner, host, hostUid: undefined, networkData: "{}" });
      await create(SECRETS, toSecretBody(secret));
      expect(await get(SECRETS, secret.name)).toBeDefined();
      await remove(VINOES, OWNER.name);
      await until("the Secret is gone", async () => !(await get(SECRETS, secret.name)), WAIT_MS);
      // Only the finalizer of the Vino decides about hosts: they do not go with it.
      expect(await get(BARE_METAL_HOSTS, "edge-worker-1")).toBeDefined();
    },
    TIMEOUT_MS,
  );
});

function failed(): never {
  throw new Error("there is none");
}
