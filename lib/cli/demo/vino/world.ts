/**
 * What the demo of Vinos happens to: XCP-ng hosts behind a Xen Orchestra, metal3, and what Kubernetes does by itself.
 * @module
 */
import {
  SIP_CLUSTERS,
  type SipClusterSpec,
} from "../../../controllers/sipcluster/resource/sip_cluster.ts";
import { SIP_CLUSTER_KIND } from "../../../controllers/sipcluster/resource/crd.ts";
import {
  IP_POOL_KIND,
  VINO_KIND,
  VINO_MACHINE_KIND,
} from "../../../controllers/vino/resource/crd.ts";
import { IP_POOLS } from "../../../controllers/vino/resource/ip_pool.ts";
import { VINOES, type VinoSpec } from "../../../controllers/vino/resource/vino.ts";
import { VINO_MACHINES } from "../../../controllers/vino/resource/vino_machine.ts";
import type { Clock } from "../../../core/clock.ts";
import type { Provider } from "../../../cloud/provider.ts";
import type { ProviderDeps } from "../../../cloud/provider_definition.ts";
import { ConfigError } from "../../../core/errors.ts";
import { xenOrchestra } from "../../../providers/xenorchestra/mod.ts";
import { objectAt, stringAt } from "../../../simulator/kubernetes/patches/json.ts";
import { collectGarbage } from "../../../simulator/kubernetes/controllers/garbage_collector.ts";
import {
  type ApiObject,
  type KubernetesSimulator,
  startKubernetesSimulator,
} from "../../../simulator/kubernetes/mod.ts";
import { operateHosts } from "../../../simulator/metal3/bare_metal_operator.ts";
import { BARE_METAL_HOST } from "../../../simulator/metal3/kinds.ts";
import {
  createMachineSite,
  type MachineSite,
  startXenOrchestraSimulator,
  type XenOrchestraSimulator,
  type XoRecord,
} from "../../../simulator/xenorchestra/mod.ts";
import { toCustomKind } from "../objects.ts";

/** The namespace of Vinos and their hosts. */
export const METAL = "metal3";
/** The namespace of the SIPCluster. */
const TENANTS = "tenants";
/** How often Landfall takes an inventory. */
export const REFRESH_INTERVAL = "1s";

const KINDS = [
  BARE_METAL_HOST,
  toCustomKind(SIP_CLUSTERS, SIP_CLUSTER_KIND.crd),
  toCustomKind(VINOES, VINO_KIND.crd),
  toCustomKind(VINO_MACHINES, VINO_MACHINE_KIND.crd),
  toCustomKind(IP_POOLS, IP_POOL_KIND.crd),
];
/** How often everything beside Landfall works, in milliseconds. */
const STEP_MS = 200;
/** How long each call of a hypervisor takes, in milliseconds. */
const OPERATION_MS = 150;
const OURS = /^vino-[0-9a-f]{8}-/;

/** The world of the demo. */
export class VinoWorld {
  readonly kubernetes: KubernetesSimulator;
  readonly cloud: XenOrchestraSimulator;
  readonly site: MachineSite;
  readonly #clock: Clock;

  private constructor(clock: Clock, site: MachineSite, cloud: XenOrchestraSimulator) {
    this.#clock = clock;
    this.site = site;
    this.cloud = cloud;
    this.kubernetes = startKubernetesSimulator({ clock });
    const { objects } = this.kubernetes;
    for (const kind of KINDS) this.kubernetes.installKind(kind);
    for (const name of [METAL, TENANTS]) objects.create("namespaces", { metadata: { name } });
  }

  /** Starts both servers. */
  static async start(clock: Clock): Promise<VinoWorld> {
    const site = createMachineSite();
    const options = { clock, world: site.world, operationMs: OPERATION_MS };
    return new VinoWorld(clock, site, await startXenOrchestraSimulator(options));
  }

  /** A provider for the cloud. */
  createProvider(deps: ProviderDeps): Provider {
    const { url, token } = this.cloud;
    const raw = { url, token, refreshInterval: REFRESH_INTERVAL };
    const { settings, issues } = xenOrchestra.parseConfig(raw, {});
    if (settings === undefined) throw new ConfigError(issues);
    return xenOrchestra.create(settings, deps);
  }

  /** Names of the XCP-ng hosts of the pool that Vinos use, by ID. */
  get hosts(): ReadonlyMap<string, string> {
    const inPool = Object.entries(this.site.hostIds).filter(([name]) => name.includes("-par-"));
    return new Map(inPool.map(([name, id]) => [id, name]));
  }

  /** The virtual machines of all Vinos, whole or not, in the order of their names. */
  get machines(): readonly XoRecord[] {
    const ours = this.cloud.state.list("vms").filter((vm) => OURS.test(toName(vm)));
    return ours.toSorted((a, b) => (toName(a) < toName(b) ? -1 : 1));
  }

  /** The BareMetalHosts, in the order of their names. */
  get bareMetalHosts(): readonly ApiObject[] {
    return this.kubernetes.objects.list(BARE_METAL_HOST.plural, METAL);
  }

  /** The VinoMachines of a Vino, in the order of their names. */
  listObjects(vino: string): readonly ApiObject[] {
    const all = this.kubernetes.objects.list(VINO_MACHINES.plural, METAL);
    return all.filter((one) => stringAt(objectAt(one, "spec"), "vinoName") === vino);
  }

  /** A Vino. */
  findVino(name: string): ApiObject | undefined {
    return this.kubernetes.objects.get(VINOES.plural, { namespace: METAL, name });
  }

  /** A SIPCluster. */
  findCluster(name: string): ApiObject | undefined {
    return this.kubernetes.objects.get(SIP_CLUSTERS.plural, { namespace: TENANTS, name });
  }

  /** Creates a Vino, or changes its spec, as `kubectl apply` does. */
  applyVino(name: string, spec: VinoSpec): void {
    const { objects } = this.kubernetes;
    const body = { spec: JSON.parse(JSON.stringify(spec)) };
    const metadata = { namespace: METAL, name };
    if (this.findVino(name) === undefined) objects.create(VINOES.plural, { metadata, ...body });
    else objects.patch(VINOES.plural, metadata, body);
  }

  /** Sets an annotation of a Vino. */
  annotateVino(name: string, annotations: Readonly<Record<string, string>>): void {
    const path = { namespace: METAL, name };
    this.kubernetes.objects.patch(VINOES.plural, path, { metadata: { annotations } });
  }

  /** Creates a SIPCluster. */
  createCluster(name: string, spec: SipClusterSpec): void {
    this.kubernetes.objects.create(SIP_CLUSTERS.plural, {
      metadata: { namespace: TENANTS, name },
      spec: JSON.parse(JSON.stringify(spec)),
    });
  }

  /** Deletes a Vino, as `kubectl delete` does. */
  deleteVino(name: string): void {
    this.kubernetes.objects.delete(VINOES.plural, { namespace: METAL, name });
  }

  /** Deletes a SIPCluster, as `kubectl delete` does. */
  deleteCluster(name: string): void {
    this.kubernetes.objects.delete(SIP_CLUSTERS.plural, { namespace: TENANTS, name });
  }

  /** Runs all that is not Landfall until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { objects } = this.kubernetes;
    while (!signal.aborted) {
      operateHosts(objects);
      collectGarbage(objects);
      await this.#clock.sleep(STEP_MS, signal).catch(() => undefined);
    }
  }

  /** Stops both servers. */
  async stop(): Promise<void> {
    await Promise.all([this.kubernetes.stop(), this.cloud.stop()]);
  }
}

/** Name of a machine in the cloud. */
export function toName(vm: XoRecord): string {
  return String(vm["name_label"]);
}

/** ID of the host on which a machine runs; of its pool while it is off. */
export function toPlace(vm: XoRecord): string {
  return String(vm["$container"]);
}
