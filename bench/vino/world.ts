/**
 * A Vino in the simulated world of the benchmark: its kinds, the hosts and the templates of its pool.
 * @module
 */
import { IP_POOLS } from "../../lib/controllers/vino/resource/ip_pool.ts";
import { VINOES, type VinoSpec } from "../../lib/controllers/vino/resource/vino.ts";
import { VINO_MACHINES } from "../../lib/controllers/vino/resource/vino_machine.ts";
import type { KubernetesSimulator } from "../../lib/simulator/kubernetes/mod.ts";
import { BARE_METAL_HOST } from "../../lib/simulator/metal3/kinds.ts";
import {
  createMachineSite,
  type XenOrchestraSimulator,
} from "../../lib/simulator/xenorchestra/mod.ts";
import { isCollection } from "../../lib/simulator/xenorchestra/records.ts";

const SR_BYTES = 2 ** 50;
const NAME = { namespace: "metal", name: "bench" };

/** The simulators. */
interface VinoWorld {
  readonly kubernetes: KubernetesSimulator;
  readonly cloud: XenOrchestraSimulator;
}

/** Installs the kinds, and adds a pool of three hosts with a template, storage and networks. */
export function prepareVinos({ kubernetes, cloud }: VinoWorld): void {
  kubernetes.installKind(BARE_METAL_HOST);
  kubernetes.installKind(VINOES);
  kubernetes.installKind(VINO_MACHINES);
  kubernetes.installKind(IP_POOLS);
  kubernetes.objects.create("namespaces", { metadata: { name: NAME.namespace } });
  const { world } = createMachineSite();
  for (const [collection, records] of Object.entries(world)) {
    if (!isCollection(collection)) continue;
    for (const record of records ?? []) {
      // Room for all disks.
      const size = collection === "srs" ? { size: SR_BYTES } : {};
      cloud.state.put(collection, { ...record, ...size });
    }
  }
}

/** Creates the Vino, or changes how many machines it wants. */
export function wantMachines({ kubernetes }: Pick<VinoWorld, "kubernetes">, count: number): void {
  const { objects } = kubernetes;
  const spec = JSON.parse(JSON.stringify(toSpec(count)));
  if (objects.get(VINOES.plural, NAME) === undefined) {
    objects.create(VINOES.plural, { metadata: NAME, spec });
  } else objects.patch(VINOES.plural, NAME, { spec });
}

/** How many machines of the Vino are complete and published. */
export function countPublished({ kubernetes }: Pick<VinoWorld, "kubernetes">): number {
  const vino = kubernetes.objects.get(VINOES.plural, NAME);
  const { counts } = (vino?.["status"] ?? {}) as {
    counts?: { ready?: number; published?: number };
  };
  return Math.min(counts?.ready ?? 0, counts?.published ?? 0);
}

function toSpec(count: number): VinoSpec {
  return {
    networks: [
      {
        name: "oam",
        subnet: "10.64.0.0/16",
        staticAllocationStart: "10.64.0.10",
        staticAllocationStop: "10.64.15.255",
        routes: [{ network: "0.0.0.0", netmask: "0.0.0.0", gateway: "10.64.0.1" }],
      },
    ],
    nodes: [{ name: "worker", count, networkInterfaces: [{ name: "oam", network: "oam" }] }],
    xenOrchestra: {
      pool: "paris",
      template: "vino-debian",
      cpus: 2,
      memory: "4Gi",
      disks: [{ name: "root", size: "10Gi" }],
      countPer: "Total",
      deletionPolicy: "Delete",
    },
  };
}
