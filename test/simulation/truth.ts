/**
 * What is true of a virtual machine, worked out from its records alone: an oracle that shares no code with what it
 * judges.
 * @module
 */
import type { XoRecord } from "../../lib/simulator/xenorchestra/mod.ts";
import type { Cloud } from "./cloud.ts";

const REGION = ["topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region"];
const ZONE = ["topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"];
const TYPE = ["node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type"];
const PREFIX = "topology.k8s.xenorchestra";
const HOST_ID = `${PREFIX}/host_id`;
const POOL_ID = `${PREFIX}/pool_id`;
const VM_NAME = "vm.k8s.xenorchestra/name_label";
const ORIGINS: Readonly<Record<string, string>> = {
  [`${PREFIX}/original_host_id`]: HOST_ID,
  [`${PREFIX}/original_pool_id`]: POOL_ID,
};
const POOL_NAME = `${PREFIX}/pool_name_label`;
const HOST_NAME = `${PREFIX}/host_name_label`;
/** Names of where a machine is, by the label that says where. */
const PLACES: Readonly<Record<string, string>> = { [HOST_NAME]: HOST_ID, [POOL_NAME]: POOL_ID };
const GIB = 2 ** 30;

/** Every label that may be ours. */
export const OUR_LABELS: ReadonlySet<string> = new Set([
  ...REGION,
  ...ZONE,
  ...TYPE,
  HOST_ID,
  HOST_NAME,
  POOL_ID,
  POOL_NAME,
  VM_NAME,
  ...Object.keys(ORIGINS),
]);

/** Labels of ours that people edit: those that follow the machine. Others are never put right. */
export const EDITED_LABELS: readonly string[] = [...OUR_LABELS].filter((key) => !ORIGINS[key]);

/** The twin of a label that goes before it where the cloud is silent; contract of `k8s.io/cloud-provider`. */
export function findBetaTwin(key: string): string | undefined {
  return [REGION, ZONE, TYPE].find(([stable]) => stable === key)?.[1];
}

/** What is true now, and what ever was. */
export class Truth {
  readonly #cloud: Cloud;
  /** By the machine's UUID and the label's key: every value that was ever true. */
  readonly #past = new Map<string, Map<string, Set<string>>>();

  /** By the ID of a host or pool: every name that it ever had. */
  readonly #names = new Map<string, Set<string>>();

  constructor(cloud: Cloud) {
    this.#cloud = cloud;
  }

  /** A machine, whether it shows just now or not; absent when there is none. */
  find(vmId: string): XoRecord | undefined {
    return this.#cloud.state.all("vms").get(vmId);
  }

  /** Whether a machine was turned into a template. */
  isTemplate(vmId: string): boolean {
    return this.#cloud.state.all("vm-templates").has(vmId);
  }

  /** Whether a machine runs. */
  isRunning(vmId: string): boolean {
    return this.find(vmId)?.["power_state"] === "Running";
  }

  /** Takes in what is true now. To be called after each change. */
  note(): void {
    for (const collection of ["pools", "hosts"] as const) {
      for (const [id, record] of this.#cloud.state.all(collection)) {
        this.#names.set(id, (this.#names.get(id) ?? new Set()).add(toName(record)));
      }
    }
    for (const vmId of this.#cloud.state.all("vms").keys()) {
      const past = this.#past.get(vmId) ?? new Map<string, Set<string>>();
      this.#past.set(vmId, past);
      for (const [key, value] of Object.entries(this.toLabels(vmId))) {
        past.set(key, (past.get(key) ?? new Set()).add(value));
      }
    }
  }

  /**
   * Whether a label of ours was ever true of a machine. Machines, hosts and pools are lists of their own, so where it
   * was before may be told with a name from after it left.
   */
  wasTrue(vmId: string, key: string, value: string): boolean {
    const past = this.#past.get(vmId);
    const places = past?.get(PLACES[key] ?? "") ?? [];
    if ([...places].some((id) => this.#names.get(id)?.has(value))) return true;
    return past?.get(ORIGINS[key] ?? key)?.has(value) ?? false;
  }

  /** The labels that are true of a machine now. One that does not run has no host. */
  toLabels(vmId: string): Readonly<Record<string, string>> {
    const vm = this.find(vmId);
    if (vm === undefined) return {};
    const { state } = this.#cloud;
    const poolId = String(vm["$pool"]);
    const host = this.isRunning(vmId)
      ? state.all("hosts").get(String(vm["$container"]))
      : undefined;
    return {
      ...toAll(REGION, poolId),
      ...toAll(TYPE, toInstanceType(vm)),
      [POOL_ID]: poolId,
      [POOL_NAME]: toName(state.all("pools").get(poolId)),
      [VM_NAME]: toName(vm),
      ...(host && {
        ...toAll(ZONE, host.id),
        [HOST_ID]: host.id,
        [HOST_NAME]: toName(host),
      }),
    };
  }

  /** The IPv4 address that a machine reports; absent when it reports none. */
  findAddress(vmId: string): string | undefined {
    const addresses = this.find(vmId)?.["addresses"];
    const [first] = Object.values({ ...(addresses as Record<string, string> | undefined) });
    return first;
  }
}

function toAll(keys: readonly string[], value: string): Record<string, string> {
  return Object.fromEntries(keys.map((key) => [key, value]));
}

/** The stories name things so that each name is a label value as it stands. */
function toName(record: XoRecord | undefined): string {
  return String(record?.["name_label"]);
}

function toInstanceType(vm: XoRecord): string {
  const { max } = vm["CPUs"] as { max: number };
  const { static: limits } = vm["memory"] as { static: readonly [number, number] };
  return `${max}vCPU-${limits[1] / GIB}GB`;
}
