/**
 * Nodes for tests.
 * @module
 */
import type { Node } from "../../../lib/kube/kinds/node.ts";
import type { JsonObject } from "../../../lib/simulator/kubernetes/mod.ts";
import { EMPTY_GUARD, type GuardState } from "../../../lib/cloud/deletion/guard.ts";
import { NO_SIGHTINGS } from "../../../lib/cloud/deletion/first_sightings.ts";

/** What a test says of a Node; everything else is as a fresh kubelet leaves it. */
export interface NodeOptions {
  readonly providerId?: string;
  readonly systemUuid?: string;
  /** @default {true} */
  readonly uninitialized?: boolean;
  readonly taints?: readonly { key: string; effect: string; value?: string }[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly nodeIp?: string;
  /** Beside that of `nodeIp`. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** `["InternalIP", "10.0.0.1"]` … */
  readonly addresses?: readonly (readonly [string, string])[];
  readonly resourceVersion?: string;
  /** Status of the condition Ready. @default no such condition */
  readonly ready?: string;
}

const UNINITIALIZED = {
  key: "node.cloudprovider.kubernetes.io/uninitialized",
  value: "true",
  effect: "NoSchedule",
};

/** A Node as it stands on the wire. */
export function toNode(name: string, options: NodeOptions = {}): Node {
  const { providerId, uninitialized = true, taints = [], nodeIp } = options;
  const annotations = {
    ...options.annotations,
    ...(nodeIp !== undefined && { "alpha.kubernetes.io/provided-node-ip": nodeIp }),
  };
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      uid: `uid-${name}`,
      resourceVersion: options.resourceVersion ?? "100",
      creationTimestamp: "2026-01-01T00:00:00Z",
      labels: options.labels ?? {},
      annotations,
    },
    spec: {
      taints: uninitialized ? [UNINITIALIZED, ...taints] : [...taints],
      ...(providerId === undefined ? {} : { providerID: providerId }),
    },
    status: {
      addresses: (options.addresses ?? [["Hostname", name]]).map(([type, address]) => ({
        type,
        address,
      })),
      ...(options.ready ? { conditions: [{ type: "Ready", status: options.ready }] } : {}),
      nodeInfo: toNodeInfo(options.systemUuid ?? ""),
    },
  };
}

/** A Node as a kubelet sends it: without what the server fills in. */
export function toRegistration(
  name: string,
  options: NodeOptions = {},
): JsonObject & { metadata: { name: string } } {
  const { metadata, ...rest } = toNode(name, options);
  const { labels = {}, annotations = {} } = metadata;
  return JSON.parse(JSON.stringify({ ...rest, metadata: { name, labels, annotations } }));
}

/** Complete, as the API server wants it; of it only the UUID is ever read. */
function toNodeInfo(systemUUID: string): { readonly systemUUID: string } {
  const whole = {
    architecture: "amd64",
    bootID: "",
    containerRuntimeVersion: "containerd://2.1.0",
    kernelVersion: "6.12.0",
    kubeProxyVersion: "v1.35.0",
    kubeletVersion: "v1.35.0",
    machineID: "",
    operatingSystem: "linux",
    osImage: "Debian GNU/Linux 13 (trixie)",
    systemUUID,
  };
  return whole;
}

/** That of a process that runs for long: what it never saw may be missing all the same. */
export const OLD_GUARD: GuardState = {
  ...EMPTY_GUARD,
  sightings: { ...NO_SIGHTINGS, sinceMs: -Infinity },
};
