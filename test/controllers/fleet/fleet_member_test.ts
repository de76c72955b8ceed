import { expect, test } from "bun:test";
import type { Presence } from "../../../lib/cloud/provider.ts";
import { toFleetMember, toSighting } from "../../../lib/controllers/fleet/fleet_member.ts";
import { OUT_OF_SERVICE_TAINT } from "../../../lib/controllers/fleet/out_of_service.ts";
import { toInstance } from "../../support/cloud/instances.ts";
import { toNode } from "../../support/nodes/nodes.ts";

const PRESENT: Presence = {
  kind: "present",
  instance: toInstance("n"),
  matchedBy: "providerId",
};

test("toSighting() takes for missing only what was not listed", () => {
  const toUnknown = (reason: "notCovered" | "notListed"): Presence => {
    return { kind: "unknown", reason, message: "m" };
  };
  expect([PRESENT, toUnknown("notListed"), toUnknown("notCovered")].map(toSighting)).toEqual([
    "present",
    "missing",
    "unknown",
  ]);
});

test("toFleetMember() counts a Node as out of service only by the taint and the record together", () => {
  const options = { providerId: "test://n", uninitialized: false };
  const tainted = toNode("n", { ...options, taints: [OUT_OF_SERVICE_TAINT] });
  const annotations = { "landfall.dev/out-of-service": "2026-01-01T00:00:00Z boot" };
  const recorded = toNode("n", options);
  const both = { ...tainted, metadata: { ...tainted.metadata, annotations } };
  const record = { ...recorded, metadata: { ...recorded.metadata, annotations } };
  expect(toFleetMember(tainted, PRESENT)).not.toHaveProperty("outOfService");
  expect(toFleetMember(record, PRESENT)).not.toHaveProperty("outOfService");
  expect(toFleetMember(both, PRESENT)).toHaveProperty("outOfService", "done");
});
