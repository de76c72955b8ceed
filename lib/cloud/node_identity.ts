/**
 * The fields of a Node by which a cloud finds its machine.
 * @module
 */

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
