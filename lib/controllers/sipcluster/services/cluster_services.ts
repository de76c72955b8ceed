/**
 * The services of one cluster: plans them from what the labels of hosts say, applies them, and tells how they are.
 * @module
 */
import { nameSome } from "../../kinds/problems.ts";
import { type AddressReader, findSecretName } from "../hosts/address_reader.ts";
import type { HostIndex } from "../hosts/host_index.ts";
import { checkSpec } from "../resource/check_spec.ts";
import type { ServiceState } from "../resource/conditions.ts";
import type { Endpoint, SipCluster, SipClusterSpec } from "../resource/sip_cluster.ts";
import { CONDITION_WORDS } from "../resource/words.ts";
import { ServiceApplier } from "./apply.ts";
import { isOwnedBy } from "./apply/objects.ts";
import { planAuth } from "./auth/providers.ts";
import { type AuthFacts, AuthSecrets, NO_AUTH } from "./auth/secrets.ts";
import { type DexStore, readStore } from "./auth/store.ts";
import { type HostKey, ensureHostKeys } from "./jump_host/host_keys.ts";
import { planJumpHosts } from "./jump_host/jump_hosts.ts";
import { type RebootPass, handleRebootRequests } from "./jump_host/reboot_requests.ts";
import { type LoadBalancerOptions, planLoadBalancers } from "./load_balancer/plan.ts";
import { LOAD_BALANCERS, type LoadBalancerKind } from "./load_balancer/words.ts";
import {
  type MachineList,
  type Member,
  judgeHosts,
  listMachines,
  listNetworks,
} from "./machines.ts";
import { type ConfigMap, type Deployment, TEMPLATES } from "./owned_kinds.ts";
import { judgeReadiness } from "./readiness.ts";
import type { Machine, ServiceInput, ServicePlan } from "./types.ts";
import type { Clock } from "../../../core/clock.ts";
import { type KeySource, fromSecondary } from "../../../engine/object_loop.ts";
import type { KubeClient } from "../../../kube/api/client.ts";
import type { Caches } from "../../../kube/cache/caches.ts";
import { type Key, type StoreReader, toKey } from "../../../kube/cache/store.ts";
import type { BareMetalHost } from "../../../kube/kinds/bare_metal_host.ts";
import { setImmediate } from "node:timers/promises";

/** What {@linkcode ClusterServices} need. */
interface ClusterServicesOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly caches: Pick<Caches, "reader">;
  readonly index: Pick<HostIndex, "listOf" | "find" | "findFacts">;
  readonly addresses: Pick<AddressReader, "readAll" | "findLast">;
  /** Of the Pods of all services. */
  readonly tolerations: ServiceInput["tolerations"];
}

/** What a cluster has. */
export interface Served {
  readonly machines: readonly Machine[];
  readonly services: readonly ServiceState[];
  readonly endpoints: readonly Endpoint[];
  /** Hosts whose addresses are not as they should be: their network data is read again soon. */
  readonly troubled: readonly Key[];
  /** When to look again although nothing changed, in milliseconds. */
  readonly againMs: number;
}

/** What services are planned from. */
interface PlanInput extends Omit<ServiceInput, "tolerations"> {
  readonly hostKeys: ReadonlyMap<string, HostKey>;
  readonly auth: AuthFacts;
  readonly dexStore: DexStore | undefined;
}

/** How soon to look again for a host key that users or an administrator must mend: Secrets are not watched. */
const KEY_PAUSE_MS = 60_000;
/** How soon to look again whether another provider is gone. */
const STORE_PAUSE_MS = 60_000;

/** The services of all clusters. */
export class ClusterServices {
  /** Changes that decide about services, for the loop. */
  readonly sources: readonly KeySource[];
  readonly #options: ClusterServicesOptions;
  readonly #applier: ServiceApplier;
  readonly #authSecrets: AuthSecrets;
  readonly #clusters: StoreReader<SipCluster>;
  /** Users' templates of HAProxy's configuration. */
  readonly #templates: ReadonlyMap<LoadBalancerKind, StoreReader<ConfigMap>>;

  /** @param clusters All SIPClusters: those in the namespace of a template use it */
  constructor(options: ClusterServicesOptions, clusters: StoreReader<SipCluster>) {
    const { caches } = options;
    this.#options = options;
    this.#applier = new ServiceApplier(options);
    this.#authSecrets = new AuthSecrets(options.client, options.clock);
    this.#clusters = clusters;
    this.#templates = new Map(
      LOAD_BALANCERS.map(({ kind, template: { configMap } }) => {
        const fieldSelector = `metadata.name=${configMap}`;
        return [kind, caches.reader(TEMPLATES, { fieldSelector })];
      }),
    );
    const listUsers = ({ metadata }: ConfigMap): Key[] =>
      [...clusters.values()]
        .filter((cluster) => cluster.metadata.namespace === metadata.namespace)
        .map(toKey);
    this.sources = [
      ...this.#applier.sources,
      ...[...this.#templates.values()].map((maps) => fromSecondary(maps, listUsers)),
    ];
  }

  /**
   * The hosts with the labels of a cluster, and what is known of their addresses.
   *
   * @throws {KubeError} if a Secret with network data cannot be read
   */
  async listMachines(
    cluster: SipCluster,
    { services }: SipClusterSpec,
    signal: AbortSignal,
  ): Promise<MachineList> {
    const { index, addresses } = this.#options;
    const networks = listNetworks(services);
    const members = Array.from(index.listOf(toKey(cluster)), ({ key, assigned }) => {
      return { key, assigned, host: index.find(key) };
    }).toSorted((a, b) => (a.key < b.key ? -1 : 1));
    const hosts = networks.length > 0 ? members.flatMap(({ host }) => host ?? []) : [];
    const known = await addresses.readAll(hosts, signal);
    const before = Map.groupBy(cluster.status?.hosts ?? [], (host) => toKey({ metadata: host }));
    const present = members.flatMap(({ key, assigned, host }): Member[] => {
      if (host === undefined || assigned === undefined) return [];
      const { name, namespace = "", uid = "" } = host.metadata;
      const [status] = before.get(key) ?? [];
      const [last, secret] = [addresses.findLast(host), findSecretName(host)];
      return [
        { key, uid, name, namespace, assigned, networks: known.get(key), last, secret, status },
      ];
    });
    return listMachines(present, networks);
  }

  /**
   * Makes the services of a cluster. Writes nothing if all is as wanted.
   *
   * @param hosts From {@linkcode ClusterServices.listMachines}
   * @throws {KubeError} that is worth another try
   */
  async serve(
    cluster: SipCluster,
    spec: SipClusterSpec,
    hosts: MachineList,
    signal: AbortSignal,
  ): Promise<Served> {
    const { machines } = hosts;
    const auth = await this.#authSecrets.read(cluster, spec.services.auth ?? [], signal);
    // Without the kinds of Dex there is no store.
    const hasStore = auth !== NO_AUTH && auth.hasDexKinds;
    const dexStore = hasStore ? await this.#readStore(cluster, signal) : undefined;
    const hostKeys = await ensureHostKeys(this.#options.client, cluster, signal);
    const isWaiting =
      dexStore?.obstacle !== undefined ||
      (dexStore && dexStore.owner.cluster !== cluster.metadata.name);
    const lacksKey = [...hostKeys.values()].some((key) => "problem" in key);
    const plans: ServicePlan[] = [];
    const templates = this.#findTemplates(cluster);
    for (const plan of this.#plan({ cluster, machines, hostKeys, auth, dexStore }, templates)) {
      plans.push(this.#hold(plan));
      // To render the template of a user takes long.
      await setImmediate();
    }
    const { problems, againMs } = await this.#applier.apply(cluster, plans, signal);
    const states = plans.map((plan): ServiceState => {
      const problem = problems.find(({ service }) => service === plan.service);
      if (problem) return { ...problem, isReady: false };
      const nodePorts = this.#applier.listNodePorts(cluster, plan);
      return judgeReadiness(plan, this.#findDeployment(cluster, plan), nodePorts);
    });
    return {
      machines,
      services: [...judgeHosts(hosts), ...states],
      endpoints: plans.flatMap((plan) =>
        this.#applier
          .listNodePorts(cluster, plan)
          .map((nodePort) => ({ service: plan.service, nodePort })),
      ),
      troubled: hosts.troubled,
      againMs: Math.min(
        againMs,
        auth.againMs,
        lacksKey ? KEY_PAUSE_MS : Infinity,
        isWaiting ? STORE_PAUSE_MS : Infinity,
      ),
    };
  }

  /**
   * Does what users ask for on the jump hosts of a cluster.
   *
   * @throws {KubeError} that is worth another try
   */
  async answerRequests(cluster: SipCluster, signal: AbortSignal): Promise<RebootPass> {
    const { client, clock } = this.#options;
    // The second jump host of cluster `a` has the name of the first one of cluster `a-2`.
    const findConfigMap = (key: Key): ConfigMap | undefined => {
      const map = this.#applier.findConfigMap(key);
      return map && isOwnedBy(map, cluster) ? map : undefined;
    };
    const { index } = this.#options;
    const isOwn = ({ metadata }: BareMetalHost): boolean => {
      const key = toKey({ metadata });
      const isSame = index.find(key)?.metadata.uid === metadata.uid;
      const { assigned, isDoubtful } = index.findFacts(key) ?? {};
      return isSame && !isDoubtful && assigned?.cluster === toKey(cluster);
    };
    return await handleRebootRequests({ client, clock, findConfigMap, isOwn }, cluster, signal);
  }

  /**
   * Deletes all services of a cluster that is being deleted.
   *
   * @returns What is left. Call it again until nothing is
   * @throws {KubeError} that is worth another try
   */
  async remove(cluster: SipCluster, signal: AbortSignal): Promise<readonly string[]> {
    const isValid = checkSpec(cluster.spec).isValid;
    // What cannot be planned without keys and Secrets is found by its owner.
    const facts = { machines: [], hostKeys: new Map(), auth: NO_AUTH, dexStore: undefined };
    const plans = isValid ? [...this.#plan({ cluster, ...facts })] : [];
    return await this.#applier.remove(cluster, plans, signal);
  }

  /** Forgets a cluster that is gone. */
  forget(key: Key): void {
    this.#applier.forget(key);
    this.#authSecrets.forget(key);
  }

  *#plan(
    { hostKeys, auth, dexStore, ...planned }: PlanInput,
    templates: LoadBalancerOptions["templates"] = {},
  ): Generator<ServicePlan> {
    const input = { ...planned, tolerations: this.#options.tolerations };
    yield* planLoadBalancers(input, { templates });
    yield* planJumpHosts({ ...input, hostKeys });
    yield* planAuth({ ...input, facts: auth, store: dexStore });
  }

  #readStore(cluster: SipCluster, signal: AbortSignal): Promise<DexStore | undefined> {
    const { client } = this.#options;
    const sources = { client, made: this.#applier.made, clusters: this.#clusters };
    return readStore(sources, cluster, signal);
  }

  #findTemplates({
    metadata: { namespace = "" },
  }: SipCluster): NonNullable<LoadBalancerOptions["templates"]> {
    const found: Partial<Record<LoadBalancerKind, NonNullable<ConfigMap["data"]>>> = {};
    for (const { kind, template } of LOAD_BALANCERS) {
      const key = toKey({ metadata: { namespace, name: template.configMap } });
      const map = this.#templates.get(kind)?.get(key);
      if (map !== undefined) found[kind] = map.data ?? {};
    }
    return found;
  }

  /**
   * Leaves a service as it is that needs addresses which are not known: it would lose servers. One that was never made
   * loses nothing.
   */
  #hold(plan: ServicePlan): ServicePlan {
    const { service, problem, unknownHosts } = plan;
    if (unknownHosts === undefined || problem || !this.#applier.isMade(plan)) return plan;
    const { reason } = CONDITION_WORDS.ServicesReady.unknownAddresses;
    const message = `the addresses of ${nameSome(unknownHosts)} are not known. Landfall leaves it as it is`;
    return { service, objects: [], problem: { reason, message } };
  }

  #findDeployment(
    { metadata: { namespace = "" } }: SipCluster,
    { deployment: name }: ServicePlan,
  ): Deployment | undefined {
    if (name === undefined) return undefined;
    return this.#applier.findDeployment(toKey({ metadata: { namespace, name } }));
  }
}
