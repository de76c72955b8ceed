import { expect, test } from "bun:test";
import {
  COMPONENT,
  EVENT_WORDS,
  SHUTDOWN_TAINT,
} from "../../../lib/controllers/node_lifecycle/words.ts";

test("words of the lifecycle controller are what clusters and people rely on", () => {
  expect(SHUTDOWN_TAINT).toEqual({
    key: "node.cloudprovider.kubernetes.io/shutdown",
    effect: "NoSchedule",
  });
  expect(COMPONENT).toBe("cloud-node-lifecycle-controller");
  expect(Object.values(EVENT_WORDS).map(({ type, reason }) => `${type} ${reason}`)).toEqual([
    "Normal DeletingNode",
    "Warning DeletingNodeFailed",
    "Warning NodeDeletionBlocked",
    "Normal ShutdownTaintSet",
    "Normal ShutdownTaintRemoved",
    "Warning ShutdownTaintContested",
  ]);
});
