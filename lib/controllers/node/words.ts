/**
 * Words that the node controller writes into or reads from a cluster. Frozen: they must not change.
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
    | "invalidNodeIp"
    | "invalidLabel"
    | "addressTypeChanged",
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
    meaning: "The Node cannot be initialised now; the message says why and what to do.",
  },
  malformedProviderId: {
    reason: "MalformedProviderID",
    type: "Warning",
    meaning: "The provider ID is of this cloud but cannot be read.",
  },
  providerIdMismatch: {
    reason: "ProviderIDMismatch",
    type: "Warning",
    meaning:
      "The kubelet of an initialised Node reports the system UUID of another machine than the provider ID names.",
  },
  invalidNodeIp: {
    reason: "InvalidProvidedNodeIP",
    type: "Warning",
    meaning: "The kubelet's node IPs are wrong or unknown to the cloud.",
  },
  invalidLabel: {
    reason: "InvalidCloudLabel",
    type: "Warning",
    meaning: "The cloud offered a label that Kubernetes would refuse; the rest was written.",
  },
  addressTypeChanged: {
    reason: "NodeAddressTypeChanged",
    type: "Normal",
    meaning:
      "An address of an initialised Node is InternalIP or ExternalIP now and was not; the message has both types.",
  },
};
