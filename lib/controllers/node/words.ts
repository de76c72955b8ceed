/**
 * Words that the node controller writes to or reads from a cluster. Frozen: they must not change.
 * @module
 */
import type { EventWord } from "../../kube/events/words.ts";

/** Name in flags, logs and metrics. */
export const NAME = "cloud-node";

/** `source.component` of the Events. */
export const COMPONENT = "cloud-node-controller";

/** The Events. `Synced` is upstream's word. */
export const EVENT_WORDS: Readonly<
  Record<
    | "synced"
    | "initializationFailed"
    | "malformedProviderId"
    | "providerIdMismatch"
    | "notManaged"
    | "invalidNodeIp"
    | "invalidLabel"
    | "addressTypeChanged"
    | "internalIpChanged"
    | "addressConflict",
    EventWord
  >
> = {
  synced: {
    reason: "Synced",
    type: "Normal",
    meaning: "The Node is initialised.",
  },
  initializationFailed: {
    reason: "NodeInitializationFailed",
    type: "Warning",
    meaning: "Landfall cannot initialise the Node now. The message says why and what to do.",
  },
  malformedProviderId: {
    reason: "MalformedProviderID",
    type: "Warning",
    meaning: "The provider ID belongs to this cloud, but Landfall cannot read it.",
  },
  providerIdMismatch: {
    reason: "ProviderIDMismatch",
    type: "Warning",
    meaning:
      "An initialised Node seems to run on another machine than its provider ID names. The kubelet reports the " +
      "system UUID of that machine, or it runs and has the name of the Node. The message has both and what to do.",
  },
  notManaged: {
    reason: "NodeNotManaged",
    type: "Warning",
    meaning:
      "The machine is in this cloud, but the Node has neither a provider ID nor the taint of a new Node, so Landfall " +
      "leaves it as it is. Written once; the message says what to do.",
  },
  invalidNodeIp: {
    reason: "InvalidProvidedNodeIP",
    type: "Warning",
    meaning: "The kubelet's `--node-ip` is wrong, or the cloud does not know these IPs.",
  },
  invalidLabel: {
    reason: "InvalidCloudLabel",
    type: "Warning",
    meaning: "Kubernetes would refuse a label of the cloud. Landfall writes the others.",
  },
  addressTypeChanged: {
    reason: "NodeAddressTypeChanged",
    type: "Normal",
    meaning:
      "The type of an address changed between InternalIP and ExternalIP. The message has both types.",
  },
  internalIpChanged: {
    reason: "NodeInternalIPChanged",
    type: "Normal",
    meaning:
      "The Node has another InternalIP, because its machine no longer reports the old one, or because of `--node-ip` " +
      "or the settings. The message has both.",
  },
  addressConflict: {
    reason: "NodeAddressConflict",
    type: "Warning",
    meaning:
      "The machine of another Node reports an address of this machine, an address pool has an address of the " +
      "machine, or a Service has the InternalIP of the Node. The message says which and what to do.",
  },
};
