/**
 * A machine as any cloud shows it.
 * @module
 */

import type { TagLabels } from "./tag_labels.ts";

/** An address of an instance, typed as Kubernetes types them. */
export interface InstanceAddress {
  readonly type: "InternalIP" | "ExternalIP" | "Hostname" | "InternalDNS" | "ExternalDNS";
  readonly address: string;
}

/** What is ExternalIP where a kubelet names its node IPs and the cloud trusts it (`Provider.providedNodeIps`). */
export interface BesideNodeIps {
  /** In a deterministic order without duplicates. Also those that are internal only because no node IP was named. */
  readonly externalIps: readonly string[];
  /** Whether an address that the kubelet names is both ExternalIP and InternalIP; otherwise it is InternalIP only. */
  readonly repeatsNodeIps: boolean;
}

/** Whether an instance runs. `unknown`: the cloud shows it but does not say. */
export type InstanceState = "running" | "stopped" | "unknown";

/**
 * A machine as a cloud shows it, frozen.
 *
 * An absent `region`, `zone`, `instanceType` or label means *not known now*: the Node keeps what it has. Never a
 * placeholder such as `unknown`.
 */
export interface Instance {
  /** The cloud's own identifier, unique within the provider. */
  readonly id: string;
  /** The value for `spec.providerID`; never changes once it is on a Node. */
  readonly providerId: string;
  readonly name: string;
  readonly state: InstanceState;
  /** System UUID in lower case, when the cloud knows it. */
  readonly systemUuid?: string;
  readonly region?: string;
  /** Value of the region label in place of {@linkcode region}. Empty: not known now. @default {region} */
  readonly regionLabel?: string;
  readonly zone?: string;
  readonly instanceType?: string;
  /** In a deterministic order without duplicates; may be empty. */
  readonly addresses: readonly InstanceAddress[];
  /** Absent: the ExternalIPs among {@linkcode addresses}, without those that the kubelet names. */
  readonly besideNodeIps?: BesideNodeIps;
  /** Additional labels, valid without changes. */
  readonly labels: Readonly<Record<string, string>>;
  /** Labels from the tags that people gave it; absent: not known now, or the cloud has no such tags. */
  readonly tagLabels?: TagLabels;
  /** For display only (power state, pool and host by name and ID …): `/debug/nodes` shows it, no decision uses it. */
  readonly details: Readonly<Record<string, string>>;
}
