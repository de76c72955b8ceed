/**
 * Words that the label controller writes to a cluster. Frozen: they must not change.
 * @module
 */
import type { EventWord } from "../../kube/events/words.ts";

/** Name in flags, logs and metrics. */
export const NAME = "cloud-node-label-sync";

/** `source.component` of the Events. */
export const COMPONENT = "cloud-node-label-sync-controller";

/** The Events. The first three are those of the Go controller for Xen Orchestra. */
export const EVENT_WORDS: Readonly<
  Record<
    | "zoneChanged"
    | "regionChanged"
    | "instanceTypeChanged"
    | "contested"
    | "outOfScope"
    | "tagConflict"
    | "tagRefused",
    EventWord
  >
> = {
  zoneChanged: {
    reason: "NodeZoneChanged",
    type: "Warning",
    meaning: "The machine moved to another zone. The message has the old and the new zone.",
  },
  regionChanged: {
    reason: "NodeRegionChanged",
    type: "Warning",
    meaning: "The machine moved to another region. The message has the old and the new region.",
  },
  instanceTypeChanged: {
    reason: "NodeInstanceTypeHasChanged",
    type: "Normal",
    meaning: "The type of the machine changed. The message has the old and the new type.",
  },
  contested: {
    reason: "NodeLabelsContested",
    type: "Warning",
    meaning:
      "Another program keeps changing labels that follow the machine. Landfall restores them at most a few times " +
      "a minute.",
  },
  outOfScope: {
    reason: "NodeMachineOutOfScope",
    type: "Warning",
    meaning:
      "By its provider ID the Node belongs to this Landfall, but its machine is in a part of the cloud that the " +
      "settings leave to another Landfall. Landfall keeps the Node.",
  },
  tagConflict: {
    reason: "NodeTagLabelConflict",
    type: "Warning",
    meaning:
      "A tag of the machine names a label that the Node already has with another value. Landfall did not set that " +
      "label, so Landfall does not change it.",
  },
  tagRefused: {
    reason: "NodeTagRefused",
    type: "Warning",
    meaning: "Landfall cannot make a Node label of a tag. The message says why.",
  },
};
