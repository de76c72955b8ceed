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

/**
 * The ExternalIPs of a Node whose kubelet has `--node-ip`, if the cloud trusts the kubelet
 * (`Provider.providedNodeIps`).
 */
interface AddressesWithNodeIp {
  /** In a deterministic order without duplicates. Includes those that are internal only without `--node-ip`. */
  readonly externalIps: readonly string[];
  /** Whether an address of `--node-ip` is both ExternalIP and InternalIP; otherwise it is InternalIP only. */
  readonly repeatsNodeIps: boolean;
}

/** The members of an {@linkcode Instance} that are about addresses. */
export type InstanceAddresses = Pick<
  Instance,
  "addresses" | "addressesWithNodeIp" | "alternatives"
>;

/** Whether an instance runs. `unknown`: the cloud shows the instance but not its state. */
export type InstanceState = "running" | "stopped" | "unknown";

/**
 * A machine as a cloud shows it. The object is frozen.
 *
 * If `region`, `zone`, `instanceType` or a label is absent, the value is *not known now*, and the Node keeps what it
 * has. A provider never sets a placeholder such as `unknown`.
 */
export interface Instance {
  /** The cloud's own identifier, unique within the provider. */
  readonly id: string;
  /** The value for `spec.providerID`. Kubernetes does not allow a Node's value to change. */
  readonly providerId: string;
  readonly name: string;
  readonly state: InstanceState;
  /** System UUID in lower case, when the cloud knows it. */
  readonly systemUuid?: string;
  readonly region?: string;
  /** Value of the region label, instead of {@linkcode region}. Empty: not known now. @default {region} */
  readonly regionLabel?: string;
  readonly zone?: string;
  readonly instanceType?: string;
  /** In a deterministic order without duplicates; may be empty. */
  readonly addresses: readonly InstanceAddress[];
  /** Absent: the ExternalIPs among {@linkcode addresses} that `--node-ip` does not name. */
  readonly addressesWithNodeIp?: AddressesWithNodeIp;
  /**
   * IPs that the machine reports, too, and that may be an InternalIP of its Node in place of one of {@linkcode
   * addresses}; in order of preference. @default {none}
   */
  readonly alternatives?: readonly string[];
  /** Additional labels. Keys and values are valid in Kubernetes. */
  readonly labels: Readonly<Record<string, string>>;
  /** Labels from the tags that people set on the machine. Absent: not known now, or the cloud has no such tags. */
  readonly tagLabels?: TagLabels;
  /** For display only (power state, name and ID of pool and host …): `/debug/nodes` shows it, no decision uses it. */
  readonly details: Readonly<Record<string, string>>;
}

/**
 * The fields of a Node by which a cloud finds its machine. A field that is not known is absent, never an empty string.
 */
export interface NodeIdentity {
  /** Name of the Node. */
  readonly name: string;
  /** `spec.providerID` of the Node, unchanged. */
  readonly providerId?: string;
  /** `status.nodeInfo.systemUUID` as the kubelet reports it, in upper or lower case. */
  readonly systemUuid?: string;
  /**
   * The region label: where the instance was last seen. The provider looks there, too, before the instance counts as
   * gone. Any user who can edit the Node may have written it, so a provider ignores a value that it cannot read.
   */
  readonly region?: string;
  /**
   * All labels of the Node. They may say more about where its instance was last seen. Any user who can edit the Node
   * may have written them, so a provider ignores values that it cannot read.
   */
  readonly labels?: Readonly<Record<string, string>>;
}

/** A place that holds machines: a pool, a host, a zone … */
export interface Place {
  /** What the cloud calls such a place. */
  readonly kind: string;
  /** The cloud's own identifier. */
  readonly id: string;
  /** Its name for operators, when known. */
  readonly name?: string;
}
