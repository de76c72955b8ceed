/**
 * Nodes, reduced to the fields that Landfall reads. A store keeps only these.
 * @module
 */
import type {
  V1NodeCondition,
  V1NodeSpec,
  V1NodeStatus,
  V1NodeSystemInfo,
} from "@kubernetes/client-node";
import { OWN_PREFIX } from "../../core/text/label.ts";
import {
  freezeDeep,
  isListWith,
  isText,
  type Kind,
  type KubeObject,
  pick,
  type Raw,
} from "./resource.ts";

/** A Node on the wire, reduced to the fields that Landfall reads. Its store keeps only these. */
export interface Node extends KubeObject {
  readonly spec?: Pick<Raw<V1NodeSpec>, "providerID" | "taints">;
  readonly status?: {
    readonly addresses?: Raw<V1NodeStatus>["addresses"];
    /** The store keeps only `Ready`. */
    readonly conditions?: readonly Pick<Raw<V1NodeCondition>, "type" | "status">[];
    /** The store keeps only `systemUUID`. */
    readonly nodeInfo?: Pick<Raw<V1NodeSystemInfo>, "systemUUID"> &
      Partial<Pick<Raw<V1NodeSystemInfo>, "bootID">>;
  };
}

/**
 * Nodes. Most of a Node are heartbeats, resources, volumes and images. The store keeps only the fields of {@linkcode
 * Node}.
 */
export const NODES: Kind<Node> = {
  apiVersion: "v1",
  kind: "Node",
  plural: "nodes",
  namespaced: false,
  unread: ["managedFields", "images"],
  // The only annotations that Landfall reads. Pod networks and storage drivers write long ones.
  keepsAnnotation: (key) =>
    key === "alpha.kubernetes.io/provided-node-ip" || key.startsWith(OWN_PREFIX),
  keep,
  shapes: {
    spec: { providerID: isText, taints: isListWith("key", "effect") },
    status: {
      addresses: isListWith("type", "address"),
      conditions: isListWith("type", "status"),
      nodeInfo: { systemUUID: isText },
    },
  },
};

/** `spec` and `status` of a Node, reduced to the fields that Landfall reads. */
function keep({ spec, status }: Node): Pick<Node, "spec" | "status"> {
  const { addresses, conditions, nodeInfo } = status ?? {};
  return {
    ...(spec && { spec: pick(spec, ["providerID", "taints"]) }),
    ...(status && {
      status: {
        ...(addresses && { addresses }),
        ...(conditions && { conditions: toKeptConditions(conditions) }),
        ...(nodeInfo && { nodeInfo: pick(nodeInfo, ["systemUUID"]) }),
      },
    }),
  };
}

type Conditions = NonNullable<NonNullable<Node["status"]>["conditions"]>;

/** `Ready` in each of its states: thousands of Nodes share these few lists. */
const READY_CONDITIONS: ReadonlyMap<string, Conditions> = new Map(
  ["True", "False", "Unknown"].map((status) => [status, freezeDeep([{ type: "Ready", status }])]),
);

/** Landfall reads only `Ready` of the four or more conditions. */
function toKeptConditions(conditions: Conditions): Conditions {
  const ready = conditions.find(({ type }) => type === "Ready");
  if (ready === undefined) return [];
  return READY_CONDITIONS.get(ready.status) ?? [pick(ready, ["type", "status"])];
}
