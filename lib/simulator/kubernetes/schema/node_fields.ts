/**
 * The fields of a Node (core/v1, Kubernetes 1.35).
 * @module
 */
import { listOf, mapOf, mergedBy, record, type Field } from "./schema.ts";

const CONFIG_MAP_SOURCE = record({
  configMap: record({
    namespace: "text",
    name: "text",
    uid: "text",
    resourceVersion: "text",
    kubeletConfigKey: "text",
  }),
});

/** `spec` and `status` of a Node. Addresses and conditions merge by type, taints are replaced whole. */
export const NODE_FIELDS: Readonly<Record<string, Field>> = {
  spec: record({
    podCIDR: "text",
    podCIDRs: { items: "text", set: true },
    providerID: "text",
    unschedulable: "flag",
    taints: listOf(record({ key: "pointer", value: "text", effect: "pointer", timeAdded: "time" })),
    configSource: CONFIG_MAP_SOURCE,
    externalID: "text",
  }),
  status: record({
    capacity: mapOf("quantity"),
    allocatable: mapOf("quantity"),
    phase: "text",
    conditions: mergedBy(
      "type",
      record({
        type: "pointer",
        status: "pointer",
        lastHeartbeatTime: "time",
        lastTransitionTime: "time",
        reason: "text",
        message: "text",
      }),
    ),
    addresses: mergedBy("type", record({ type: "pointer", address: "pointer" })),
    daemonEndpoints: record({ kubeletEndpoint: record({ Port: "integer" }) }),
    nodeInfo: record({
      machineID: "pointer",
      systemUUID: "pointer",
      bootID: "pointer",
      kernelVersion: "pointer",
      osImage: "pointer",
      containerRuntimeVersion: "pointer",
      kubeletVersion: "pointer",
      kubeProxyVersion: "pointer",
      operatingSystem: "pointer",
      architecture: "pointer",
      swap: record({ capacity: "integer" }),
    }),
    images: listOf(record({ names: listOf("pointer"), sizeBytes: "integer" })),
    volumesInUse: listOf("pointer"),
    volumesAttached: listOf(record({ name: "pointer", devicePath: "pointer" })),
    config: "any",
    runtimeHandlers: listOf("any"),
    features: record({ supplementalGroupsPolicy: "any" }),
  }),
};
