/**
 * A machine as any cloud shows it.
 * @module
 */

/** An address of an instance, typed as Kubernetes types them. */
export interface InstanceAddress {
  readonly type: "InternalIP" | "ExternalIP" | "Hostname" | "InternalDNS" | "ExternalDNS";
  readonly address: string;
}

/** What is ExternalIP where a kubelet names its node IPs and the cloud trusts it (`Provider.providedNodeIps`). */
export interface BesideNodeIps {
  /** In a deterministic order without duplicates; also those that are internal only for want of a node IP. */
  readonly externalIps: readonly string[];
  /** Whether one that the kubelet names is ExternalIP beside InternalIP; otherwise it is InternalIP alone. */
  readonly repeatsNodeIps: boolean;
}

/** Whether an instance runs. `unknown`: the cloud shows it but does not tell. */
export type InstanceState = "running" | "stopped" | "unknown";

/**
 * A machine as a cloud shows it, frozen.
 *
 * An absent `region`, `zone`, `instanceType` or label means *not known now*: what a Node already has stays. Never a
 * placeholder such as `unknown`.
 */
export interface Instance {
  /** The cloud's own identifier, unique within the provider. */
  readonly id: string;
  /** What `spec.providerID` becomes; frozen once written to a Node. */
  readonly providerId: string;
  readonly name: string;
  readonly state: InstanceState;
  /** System UUID in lower case, when the cloud knows it. */
  readonly systemUuid?: string;
  readonly region?: string;
  readonly zone?: string;
  readonly instanceType?: string;
  /** In a deterministic order without duplicates; may be empty. */
  readonly addresses: readonly InstanceAddress[];
  /** Absent: the ExternalIPs among {@linkcode addresses}, without those that the kubelet names. */
  readonly besideNodeIps?: BesideNodeIps;
  /** Additional labels, valid as they are. */
  readonly labels: Readonly<Record<string, string>>;
  /** What only people read (power state, pool and host by name and ID …); shown by `/debug/nodes`, never decided on. */
  readonly details: Readonly<Record<string, string>>;
}
