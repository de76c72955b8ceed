import { expect, test } from "bun:test";
import type { MachinePlan } from "../../../../../lib/cloud/capabilities/machines.ts";
import {
  describeWayOut,
  isGoneWithPool,
  readGonePools,
} from "../../../../../lib/controllers/vino/machines/removal/lost_pool.ts";

const LOST: MachinePlan = {
  state: "Unknown",
  steps: [],
  problems: [{ reason: "No", message: "no", kind: "retry", missingPoolId: "p" }],
  parts: [],
};

test.each([
  [{}, []],
  [{ annotations: {} }, []],
  [{ annotations: { "landfall.dev/gone-pools": "p" } }, ["p"]],
  [{ annotations: { "landfall.dev/gone-pools": "p, q" } }, ["p", "q"]],
])("readGonePools() of %o", (metadata, pools) => {
  expect([...readGonePools(metadata)]).toEqual(pools);
});

test.each<[string, Partial<MachinePlan>, readonly string[], boolean]>([
  ["in a pool that a person named", {}, ["p"], true],
  ["in a pool that no person named", {}, ["q"], false],
  [
    "in a pool that is only not connected",
    { problems: [{ reason: "No", message: "no", kind: "retry" }] },
    ["p"],
    false,
  ],
  ["which the cloud shows", { state: "Removing" }, ["p"], false],
  ["about which only a look could tell", { needsLook: true }, ["p"], false],
  ["for which there is something to do", { steps: [{ summary: "x" }] }, ["p"], false],
])("isGoneWithPool() of a machine %s", (_title, over, pools, expected) => {
  expect(isGoneWithPool({ ...LOST, ...over }, new Set(pools))).toBe(expected);
});

test("describeWayOut() gives the command", () => {
  const owner = { namespace: "metal", name: "edge", uid: "u" };
  expect(describeWayOut(owner, "p")).toEndWith(
    "kubectl annotate vino edge --namespace=metal --overwrite landfall.dev/gone-pools=p",
  );
});
