import { expect, test } from "bun:test";
import { COMPONENT, EVENT_WORDS } from "../../../lib/controllers/node_labels/words.ts";

test("the words of the label controller stay what people filter by", () => {
  expect(COMPONENT).toBe("cloud-node-label-sync-controller");
  expect(Object.values(EVENT_WORDS).map(({ type, reason }) => `${type} ${reason}`)).toEqual([
    "Warning NodeZoneChanged",
    "Warning NodeRegionChanged",
    "Normal NodeInstanceTypeHasChanged",
    "Warning NodeLabelsContested",
    "Warning NodeMachineOutOfScope",
    "Warning NodeTagLabelConflict",
    "Warning NodeTagRefused",
  ]);
});
