import { expect, test } from "bun:test";
import { toPlaces } from "../../../../lib/providers/cloudstack/model/places.ts";
import { toInstance } from "../../../support/cloud/instances.ts";

const LABELS = {
  "topology.kubernetes.io/region": "west",
  "topology.kubernetes.io/zone": "lyon",
};
const REGION = { kind: "region", id: "west" };
const ZONE = { kind: "zone", id: "lyon" };

test.each([
  ["the zone alone, which is also the region", { region: "lyon", zone: "lyon" }, [ZONE]],
  ["a region of the settings", { region: "west", zone: "lyon" }, [REGION, ZONE]],
])("toPlaces() lists %s", (_what, more, places) => {
  expect(toPlaces(toInstance("a", more), {})).toEqual(places);
});

test("toPlaces() goes by the labels of a Node whose VM is not shown", () => {
  expect(toPlaces(undefined, LABELS)).toEqual([REGION, ZONE]);
  expect(toPlaces(undefined, {})).toEqual([]);
});
