import { expect, test } from "bun:test";
import type { MachinePlan } from "../../../../../lib/cloud/capabilities/machines.ts";
import {
  describeIdlePools,
  describeWayOut,
  isGoneWithPool,
  readGonePools,
} from "../../../../../lib/controllers/vino/machines/removal/lost_pool.ts";
import { toReport } from "../../../../support/vino/reports.ts";

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
  const command =
    "kubectl annotate vino edge --namespace=metal --overwrite landfall.dev/gone-pools=p";
  expect(describeWayOut(owner, "p", undefined)).toStartWith("If that pool is gone for good");
  expect(describeWayOut(owner, "p", undefined)).toEndWith(command);
  const wrong = describeWayOut(owner, "p", "lyon, q");
  expect(wrong).toStartWith(
    'The annotation landfall.dev/gone-pools is "lyon, q", without the ID of that pool. If',
  );
  expect(wrong).toEndWith(command);
  expect(describeWayOut(owner, "p", "q, p")).toBeUndefined();
});

const POOLS = [
  { id: "p", name: "lyon", isComplete: true },
  { id: "q", name: "paris", isComplete: false },
];
const REMOVE = "remove the annotation landfall.dev/gone-pools";
const SHOWN = `The cloud shows pool lyon, so it is not gone: ${REMOVE}`;

test.each<[string | undefined, Parameters<typeof toReport>[1], readonly string[]]>([
  [undefined, {}, []],
  ["p", {}, [SHOWN]],
  ["lyon", {}, [SHOWN]],
  ["q", {}, [`No machine of this Vino is in a lost pool "q": ${REMOVE}`]],
  ["typo, p", {}, [`No machine of this Vino is in a lost pool "typo": ${REMOVE}`, SHOWN]],
  // Then the message of that machine says what to write.
  ["typo", { state: "Unknown" }, []],
])("describeIdlePools() of %j, with a machine %j", (said, entry, found) => {
  expect(describeIdlePools(said, POOLS, [toReport(0, entry)])).toEqual([...found]);
});
