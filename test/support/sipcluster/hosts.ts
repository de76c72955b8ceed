/**
 * BareMetalHosts for tests, and a simulated API server that has some.
 * @module
 */
import { BARE_METAL_HOSTS } from "../../../lib/kube/kinds/bare_metal_host.ts";
import type { BareMetalHost } from "../../../lib/kube/kinds/bare_metal_host.ts";
import { type Clock, systemClock } from "../../../lib/core/clock.ts";
import type { KubeClient } from "../../../lib/kube/api/client.ts";
import { silentLogger } from "../../../lib/core/log.ts";
import { Store } from "../../../lib/kube/cache/store.ts";
import { trimObject } from "../../../lib/kube/kinds/resource.ts";
import {
  type HostStatus,
  SIP_CLUSTERS,
  type SipCluster,
} from "../../../lib/controllers/sipcluster/resource/sip_cluster.ts";
import { findLabelled } from "../../../lib/controllers/sipcluster/hosts/facts.ts";
import { NODE_TYPE, STANDBY } from "../../../lib/controllers/sipcluster/words.ts";
import {
  type ApiObject,
  type JsonObject,
  type KubernetesSimulator,
  startKubernetesSimulator,
} from "../../../lib/simulator/kubernetes/mod.ts";
import { connect } from "../kube/connect.ts";

/** The namespace of hosts in tests. */
export const HOST_NAMESPACE = "metal3";

/** A management controller, as hosts have that metal3 installs. */
const MANAGED = { bmc: { address: "redfish://bmc.example.org/1", credentialsName: "bmc" } };

/** What a test says about a host. */
export interface HostInput {
  /** @default {metal3} */
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec?: JsonObject;
  readonly status?: JsonObject;
}

/** The labels of a host that the cluster `tenant/<name>` has. */
export function toClaimLabels(
  name: string,
  { role = "Worker", standby = false }: { role?: string; standby?: boolean } = {},
): Record<string, string> {
  return {
    "sip.airshipit.org/cluster-namespace": "tenant",
    "sip.airshipit.org/cluster-name": name,
    "sip.airshipit.org/node-type": role,
    ...(standby && { "sip.airshipit.org/standby": "true" }),
  };
}

let version = 0;

/** Clusters of namespace `tenant` that record the hosts that have their labels, in a store. */
export function toRecording(
  hosts: readonly BareMetalHost[],
  store: Store<SipCluster> = new Store({ resource: SIP_CLUSTERS, log: silentLogger }),
): Store<SipCluster> {
  version += 1;
  const byCluster = Map.groupBy(hosts, ({ metadata: { labels } }) =>
    findLabelled(labels)?.replace("tenant/", ""),
  );
  const clusters = [...byCluster].flatMap(([name, own]): SipCluster[] => {
    const records = own.map(
      ({ metadata: { uid = "", namespace = "", name: host, labels = {} } }): HostStatus => {
        const role = labels[NODE_TYPE] === "ControlPlane" ? "ControlPlane" : "Worker";
        const standby = labels[STANDBY] === "true";
        return { uid, namespace, name: host, role, standby, addresses: [] };
      },
    );
    const metadata = {
      namespace: "tenant",
      name: name ?? "",
      uid: `uid-${name}`,
      resourceVersion: `${version}`,
    };
    return name === undefined ? [] : [{ metadata, status: { hosts: records } }];
  });
  store.replace(clusters, `${version}`);
  return store;
}

/** A host as a store has it. */
export function toHost(
  name: string,
  { namespace = HOST_NAMESPACE, labels, annotations, spec, status }: HostInput = {},
  metadata: Partial<BareMetalHost["metadata"]> = {},
): BareMetalHost {
  const { apiVersion, kind } = BARE_METAL_HOSTS;
  const object: object = {
    apiVersion,
    kind,
    metadata: {
      uid: `uid-${name}`,
      resourceVersion: "1",
      ...(labels && { labels }),
      ...(annotations && { annotations }),
      ...metadata,
      name,
      namespace,
    },
    spec: { ...MANAGED, ...spec },
    ...(status && { status }),
  };
  return trimObject(BARE_METAL_HOSTS, structuredClone(object) as BareMetalHost);
}

/** A simulated API server that knows BareMetalHosts, and a client of it. */
export interface HostServer extends AsyncDisposable {
  readonly kubernetes: KubernetesSimulator;
  readonly client: KubeClient;
  /** Creates a host, as a person would. */
  create(name: string, input?: HostInput): BareMetalHost;
  /** Changes a host by a merge patch, as another program would. */
  change(name: string, patch: JsonObject): BareMetalHost;
  /** A host as it is now. */
  find(name: string): BareMetalHost | undefined;
  /** The labels of a host as they are now; `undefined` if the host is gone. */
  findLabels(name: string): Readonly<Record<string, string>> | undefined;
  /** The requests of the client since the last call, such as `patch baremetalhosts a`. */
  takeRequests(): string[];
}

/** Starts the server; `await using` ends it. */
export async function startHostServer(clock: Clock = systemClock): Promise<HostServer> {
  const kubernetes = startKubernetesSimulator({ clock });
  kubernetes.installKind(BARE_METAL_HOSTS);
  kubernetes.objects.create("namespaces", { metadata: { name: HOST_NAMESPACE } });
  const client = await connect({ master: kubernetes.url }, { clock });
  const { plural } = BARE_METAL_HOSTS;
  const toPath = (name: string): { name: string; namespace: string } => ({
    name,
    namespace: HOST_NAMESPACE,
  });
  return {
    kubernetes,
    client,
    create(name, { labels, annotations, spec, status } = {}) {
      const { apiVersion, kind } = BARE_METAL_HOSTS;
      const metadata = { ...toPath(name), ...(labels && { labels: { ...labels } }) };
      kubernetes.objects.create(plural, {
        apiVersion,
        kind,
        metadata: { ...metadata, ...(annotations && { annotations: { ...annotations } }) },
        spec: { ...MANAGED, ...spec },
      });
      if (status)
        kubernetes.objects.patch(plural, { ...toPath(name), subresource: "status" }, { status });
      return toStored(kubernetes.objects.get(plural, toPath(name)));
    },
    change: (name, patch) => toStored(kubernetes.objects.patch(plural, toPath(name), patch)),
    find(name) {
      const object = kubernetes.objects.get(plural, toPath(name));
      return object && toStored(object);
    },
    findLabels(name) {
      const object = kubernetes.objects.get(plural, toPath(name));
      return object && (toStored(object).metadata.labels ?? {});
    },
    takeRequests() {
      const taken = kubernetes.requests.entries.map(({ verb, resource, name }) =>
        [verb, resource, name].join(" "),
      );
      kubernetes.requests.clear();
      return taken;
    },
    async [Symbol.asyncDispose]() {
      client.close();
      await kubernetes.stop();
    },
  };
}

function toStored(object: ApiObject | undefined): BareMetalHost {
  if (object === undefined) throw new TypeError("the server has no such host");
  return trimObject(BARE_METAL_HOSTS, structuredClone(object) as object as BareMetalHost);
}
