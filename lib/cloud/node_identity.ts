/**
 * What identifies a Node to a cloud.
 * @module
 */

/** What identifies a Node to a cloud. Never contains empty strings: what is not known is absent. */
export interface NodeIdentity {
  /** Name of the Node. */
  readonly name: string;
  /** `spec.providerID` as it stands on the Node. */
  readonly providerId?: string;
  /** `status.nodeInfo.systemUUID` as the kubelet reports it, any case. */
  readonly systemUuid?: string;
  /**
   * The region in its labels, where it was last seen: one more place to look at before its instance counts as gone.
   * Any user who can edit the Node may have written it; a provider ignores a value that it cannot read.
   */
  readonly region?: string;
  /**
   * All labels of the Node, which may say more about where its instance was last seen. Any user who can edit the Node
   * may have written them; a provider ignores what it cannot read.
   */
  readonly labels?: Readonly<Record<string, string>>;
}
