/**
 * The cluster of the demo: Nodes as kubelets register them, and a view of them.
 * @module
 */
import type { KubeEvent } from "../../kube/kinds/event.ts";
import type { Node } from "../../kube/kinds/node.ts";
import type { Service } from "../../kube/kinds/service.ts";
import type { StoreReader } from "../../kube/cache/store.ts";
import type { DemoMachine } from "../../simulator/demo_machine.ts";

/** A Node as a fresh kubelet with `--cloud-provider=external` registers it. */
export function toRegisteredNode(machine: DemoMachine, now: string): RegisteredNode {
  const { nodeName, systemUuid, address } = machine;
  const isControlPlane = nodeName.startsWith("cp-");
  return {
    metadata: {
      name: nodeName,
      labels: {
        "kubernetes.io/hostname": nodeName,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        ...(isControlPlane ? { "node-role.kubernetes.io/control-plane": "" } : {}),
      },
      annotations: address ? { "alpha.kubernetes.io/provided-node-ip": address } : {},
    },
    spec: {
      taints: [
        {
          key: "node.cloudprovider.kubernetes.io/uninitialized",
          value: "true",
          effect: "NoSchedule",
        },
      ],
    },
    status: {
      addresses: [{ type: "Hostname", address: nodeName }],
      conditions: toReadyConditions(now, now),
      nodeInfo: toNodeInfo(systemUuid),
    },
  };
}

/** What a kubelet reports about its machine, with all fields that the API server requires. */
export function toNodeInfo(systemUUID: string): Readonly<Record<string, string>> {
  return {
    architecture: "amd64",
    bootID: "",
    containerRuntimeVersion: "containerd://2.1.5",
    kernelVersion: "6.12.48",
    kubeProxyVersion: "",
    kubeletVersion: "v1.35.0",
    machineID: systemUUID.replaceAll("-", ""),
    operatingSystem: "linux",
    osImage: "Debian GNU/Linux 13 (trixie)",
    systemUUID,
  };
}

/** One condition of a Node. */
interface NodeCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly lastHeartbeatTime: string;
  readonly lastTransitionTime: string;
  readonly [key: string]: string;
}

const PRESSURES: readonly (readonly [type: string, reason: string, message: string])[] = [
  ["MemoryPressure", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"],
  ["DiskPressure", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"],
  ["PIDPressure", "KubeletHasSufficientPID", "kubelet has sufficient PID available"],
];

/**
 * The conditions that a healthy kubelet reports.
 *
 * @param now When it reports, ISO 8601
 * @param since When it became healthy, ISO 8601
 */
export function toReadyConditions(now: string, since: string): NodeCondition[] {
  const times = { lastHeartbeatTime: now, lastTransitionTime: since };
  return [
    ...PRESSURES.map(([type, reason, message]) => ({
      type,
      status: "False",
      reason,
      message,
      ...times,
    })),
    {
      type: "Ready",
      status: "True",
      reason: "KubeletReady",
      message: "kubelet is posting ready status",
      ...times,
    },
  ];
}

/**
 * The conditions that Kubernetes writes when a kubelet stops reporting.
 *
 * @param heard When the kubelet last reported, ISO 8601
 * @param now When Kubernetes notices, ISO 8601
 */
export function toUnknownConditions(heard: string, now: string): NodeCondition[] {
  return [...PRESSURES.map(([type]) => type), "Ready"].map((type) => ({
    type,
    status: "Unknown",
    reason: "NodeStatusUnknown",
    message: "Kubelet stopped posting node status.",
    lastHeartbeatTime: heard,
    lastTransitionTime: now,
  }));
}

/** What {@linkcode toRegisteredNode} gives: plain JSON with a name. */
export interface RegisteredNode {
  readonly metadata: {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
  };
  readonly spec: {
    readonly taints: readonly Readonly<Record<"key" | "value" | "effect", string>>[];
  };
  readonly status: {
    readonly addresses: readonly Readonly<Record<"type" | "address", string>>[];
    readonly conditions: readonly NodeCondition[];
    readonly nodeInfo: Readonly<Record<string, string>>;
  };
}

/** What the watches of a cluster show. */
export class ClusterView {
  readonly nodes: StoreReader<Node>;
  readonly services: StoreReader<Service>;
  readonly events: StoreReader<KubeEvent>;

  constructor(stores: Pick<ClusterView, "nodes" | "services" | "events">) {
    this.nodes = stores.nodes;
    this.services = stores.services;
    this.events = stores.events;
  }

  /** The newest Event with this reason about the object with this name. */
  findEvent(name: string, reason: string): KubeEvent | undefined {
    return [...this.events.values()].findLast(
      (event) => event.involvedObject.name === name && event.reason === reason,
    );
  }
}
