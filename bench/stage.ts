/**
 * The world of a measurement: both simulators, the machines that are Nodes, and their kubelets.
 * @module
 */
import type { CloudStackSimulator } from "../lib/simulator/cloudstack/mod.ts";
import type { DemoMachine } from "../lib/simulator/demo_machine.ts";
import type { ApiObject, KubernetesSimulator } from "../lib/simulator/kubernetes/mod.ts";
import type { XenOrchestraSimulator } from "../lib/simulator/xenorchestra/mod.ts";
import { toFullNode } from "./fleet.ts";
import { countPublished, prepareVinos, wantMachines } from "./vino/world.ts";

type Condition = Record<string, string>;

const TICK_MS = 20;
const EXCLUDED = "node.kubernetes.io/exclude-from-external-load-balancers";
const ZONE = "topology.kubernetes.io/zone";

/** What any simulated cloud has. */
interface StageCloud {
  /** Where its API is. */
  readonly url: string;
  readonly requests: { readonly total: number };
  stop(): Promise<void>;
}

/** Services to make. */
export interface ServiceOptions {
  readonly count: number;
  /** How many ports each has. */
  readonly ports: number;
  /** Whether the ports have node ports. A cluster has only 2,768 of them by default. */
  readonly hasNodePorts: boolean;
}

/** Simulators and machines together. */
export abstract class Stage {
  abstract readonly cloud: StageCloud;
  readonly kubernetes: KubernetesSimulator;
  /** The machines that are or become Nodes; may be added to and removed from. */
  readonly machines: DemoMachine[];
  #heartbeats = 0;
  #timer: Timer | undefined;

  constructor(kubernetes: KubernetesSimulator, machines: Iterable<DemoMachine>) {
    this.kubernetes = kubernetes;
    this.machines = [...machines];
  }

  /** Turns a machine off. */
  abstract halt(machine: DemoMachine): void;

  /** Deletes a machine for good. */
  abstract remove(machine: DemoMachine): void;

  /** How often a kubelet reported that it is well, so far. */
  get heartbeats(): number {
    return this.#heartbeats;
  }

  /** Registers a Node, like its kubelet. */
  register(machine: DemoMachine): void {
    this.kubernetes.objects.createNode({ ...toFullNode(machine, toNow()) });
  }

  /** Makes Services of type LoadBalancer. */
  createServices({ count, ports, hasNodePorts }: ServiceOptions): void {
    const list = Array.from({ length: ports }, (_, at) => ({ name: `p${at}`, port: 80 + at }));
    for (let at = 0; at < count; at += 1) {
      this.kubernetes.objects.create("services", {
        metadata: { namespace: "default", name: `service-${at}` },
        spec: { type: "LoadBalancer", ports: list, allocateLoadBalancerNodePorts: hasNodePorts },
      });
    }
  }

  /** Sets the label by which no load balancer sends traffic to the first Node, or removes it. */
  excludeFirst(isOut: boolean): void {
    const [first] = this.machines;
    if (first === undefined) return;
    const labels = { [EXCLUDED]: isOut ? "" : null };
    this.kubernetes.objects.patchNode(first.nodeName, { metadata: { labels } });
  }

  /** Lets every kubelet report once in `periodMs` that it is well, from now on; absent: none reports. */
  keepHeartbeats(periodMs: number | undefined): void {
    clearInterval(this.#timer);
    if (periodMs === undefined) return;
    const startMs = performance.now();
    let beaten = 0;
    let at = 0;
    this.#timer = setInterval(() => {
      const due = ((performance.now() - startMs) / periodMs) * this.machines.length;
      for (; beaten < due; beaten += 1) {
        const machine = this.machines[at % this.machines.length];
        at += 1;
        if (machine) this.setReady(machine.nodeName);
        this.#heartbeats += 1;
      }
    }, TICK_MS);
  }

  /**
   * Writes the conditions of a Node, if there is one.
   *
   * @param status Of `Ready`; absent: unchanged
   */
  setReady(name: string, status?: "True" | "Unknown"): void {
    const node = this.kubernetes.objects.getNode(name);
    if (node === undefined) return;
    const { conditions = [] } = (node["status"] ?? {}) as { conditions?: Condition[] };
    const now = toNow();
    this.kubernetes.objects.patchNodeStatus(name, {
      conditions: conditions.map((one) => ({
        ...one,
        lastHeartbeatTime: now,
        ...(one["type"] === "Ready" && status !== undefined ? { status } : {}),
      })),
    });
  }
}

/** With Xen Orchestra, whose hosts are the zones of Nodes. */
export class XenOrchestraStage extends Stage {
  override readonly cloud: XenOrchestraSimulator;
  #hasVinos = false;

  constructor(
    kubernetes: KubernetesSimulator,
    cloud: XenOrchestraSimulator,
    machines: Iterable<DemoMachine>,
  ) {
    super(kubernetes, machines);
    this.cloud = cloud;
  }

  override halt({ vmId }: DemoMachine): void {
    this.cloud.state.setPower(vmId, "Halted");
  }

  override remove({ vmId }: DemoMachine): void {
    this.cloud.state.removeVm(vmId);
  }

  /** From now on there can be Vinos. */
  prepareVinos(): void {
    prepareVinos(this);
    this.#hasVinos = true;
  }

  /** Lets the only Vino want so many machines. */
  wantMachines(count: number): void {
    wantMachines(this, count);
  }

  /** How many machines are complete and published as hosts. */
  get published(): number {
    return this.#hasVinos ? countPublished(this) : 0;
  }

  /** Moves a running machine to another host of its pool. */
  moveLive({ vmId }: DemoMachine): void {
    const { state } = this.cloud;
    const vm = state.read("vms", vmId);
    const target = state
      .list("hosts")
      .find((host) => host["$pool"] === vm?.["$pool"] && host.id !== vm?.["$container"]);
    if (target === undefined) throw new Error("there is no second host in the pool");
    state.migrateLive(vmId, target.id);
  }

  /** Whether the zone of a Node is the host on which its machine is now. */
  isPlaced({ nodeName, vmId }: DemoMachine): boolean {
    const host = this.cloud.state.read("vms", vmId)?.["$container"];
    const labels = this.kubernetes.objects.getNode(nodeName)?.metadata["labels"];
    return typeof host === "string" && JSON.stringify(labels ?? {}).includes(`"${ZONE}":"${host}"`);
  }
}

/** With Apache CloudStack. */
export class CloudStackStage extends Stage {
  override readonly cloud: CloudStackSimulator;

  constructor(
    kubernetes: KubernetesSimulator,
    cloud: CloudStackSimulator,
    machines: Iterable<DemoMachine>,
  ) {
    super(kubernetes, machines);
    this.cloud = cloud;
  }

  override halt({ vmId }: DemoMachine): void {
    this.cloud.state.setState(vmId, "Stopped");
  }

  override remove({ vmId }: DemoMachine): void {
    this.cloud.state.expunge(vmId);
  }
}

/** With a provider ID: the Node has a machine. */
export function isNamed({ spec }: ApiObject): boolean {
  return has(spec, "providerID");
}

/** Without the taint, with a provider ID and an address. */
export function isInitialised({ spec, status }: ApiObject): boolean {
  const text = JSON.stringify([spec, has(status, "addresses") && status.addresses]);
  return (
    text.includes('"providerID"') &&
    text.includes('"InternalIP"') &&
    !text.includes("/uninitialized")
  );
}

/** A Service whose status shows an address. */
export function isServed({ status }: ApiObject): boolean {
  return JSON.stringify(status ?? {}).includes('"ip":');
}

function has<K extends string>(value: unknown, key: K): value is { readonly [key in K]: unknown } {
  return typeof value === "object" && value !== null && key in value;
}

function toNow(): string {
  return `${new Date().toISOString().slice(0, 19)}Z`;
}
