/**
 * Nodes of the size that real ones have: about 8 KiB of JSON, most of it the list of images.
 * @module
 */
import { toRegisteredNode, type RegisteredNode } from "../lib/cli/demo/cluster.ts";
import type { DemoMachine } from "../lib/simulator/demo_machine.ts";

const IMAGES = 30;
const CONDITIONS = ["MemoryPressure", "DiskPressure", "PIDPressure"];
const RESOURCES = {
  cpu: "4",
  "ephemeral-storage": "20463184Ki",
  "hugepages-1Gi": "0",
  "hugepages-2Mi": "0",
  memory: "8131836Ki",
  pods: "110",
};

/** What {@linkcode toFullNode} gives. */
interface FullNode extends RegisteredNode {
  readonly status: RegisteredNode["status"] & {
    readonly capacity: Readonly<Record<string, string>>;
    readonly allocatable: Readonly<Record<string, string>>;
    readonly daemonEndpoints: { readonly kubeletEndpoint: { readonly Port: number } };
    readonly images: readonly { readonly names: readonly string[]; readonly sizeBytes: number }[];
  };
}

/** A Node as a kubelet that has run for a while registers it. */
export function toFullNode(machine: DemoMachine, now: string): FullNode {
  const node = toRegisteredNode(machine, now);
  const times = { lastHeartbeatTime: now, lastTransitionTime: now };
  return {
    ...node,
    status: {
      ...node.status,
      capacity: RESOURCES,
      allocatable: RESOURCES,
      conditions: [
        ...CONDITIONS.map((type) => ({
          type,
          status: "False",
          reason: `KubeletHasNo${type}`,
          message: `kubelet has sufficient resources available, no ${type}`,
          ...times,
        })),
        ...node.status.conditions,
      ],
      daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
      images: Array.from({ length: IMAGES }, (_, index) => ({
        names: [
          `registry.example/platform/component-${index}@sha256:${String(index).padStart(64, "a")}`,
          `registry.example/platform/component-${index}:v1.${index}.0`,
        ],
        sizeBytes: 50_000_000 + index,
      })),
    },
  };
}

/** The same as a list or a watch shows it: with what the API server adds. */
export function toListedNode(machine: DemoMachine, now: string): object {
  const { metadata, ...rest } = toFullNode(machine, now);
  const fields = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`f:field-${at}`, {}]));
  const added = {
    uid: crypto.randomUUID(),
    resourceVersion: "1000",
    creationTimestamp: now,
    managedFields: [{ manager: "kubelet", operation: "Update", fieldsV1: fields }],
  };
  return { apiVersion: "v1", kind: "Node", ...rest, metadata: { ...metadata, ...added } };
}
