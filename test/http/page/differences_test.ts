import { expect, test } from "bun:test";
import {
  compareAddresses,
  compareLabels,
  compareProviderId,
  countDifferences,
} from "../../../lib/http/page/differences.ts";
import { toLostView, toNodeView } from "../../support/page/node_views.ts";

const ip = (address: string) => ({ type: "InternalIP", address });

test("compareLabels() tells what is right, missing and different, by key", () => {
  const node = toNodeView("n", {
    labels: { wanted: { c: "1", a: "1", b: "" }, actual: { a: "1", c: "2" } },
  });
  expect(compareLabels(node)).toEqual([
    { name: "a", wanted: "1", actual: "1", state: "same" },
    { name: "b", wanted: "", state: "missing" },
    { name: "c", wanted: "1", actual: "2", state: "differs" },
  ]);
  expect(countDifferences(node)).toBe(2);
});

test("compareAddresses() tells what is missing, extra and in another position", () => {
  const node = toNodeView("n", {
    addresses: { wanted: [ip("1"), ip("2"), ip("3")], actual: [ip("1"), ip("9"), ip("2")] },
  });
  expect(compareAddresses(node)).toEqual([
    { name: "InternalIP", wanted: "1", actual: "1", state: "same" },
    { name: "InternalIP", wanted: "2", actual: "2, in another position", state: "differs" },
    { name: "InternalIP", wanted: "3", state: "missing" },
    { name: "InternalIP", actual: "9", state: "extra" },
  ]);
  expect(countDifferences(node)).toBe(3);
});

test("compareAddresses() finds nothing wrong with addresses while none are wanted", () => {
  const node = toLostView("n", "denied", { addresses: { actual: [ip("1")] } });
  expect(compareAddresses(node)).toEqual([{ name: "InternalIP", actual: "1", state: "unknown" }]);
  expect(countDifferences({ ...node, wantedProviderId: "test://n" })).toBe(0);
});

test("compareProviderId() counts a missing one, and keeps one that differs", () => {
  const { providerId: _, ...bare } = toNodeView("n");
  expect(compareProviderId(bare)).toMatchObject({ wanted: "test://n", state: "missing" });
  expect(countDifferences(bare)).toBe(1);
  const moved = toNodeView("n", { wantedProviderId: "test://elsewhere" });
  expect(compareProviderId(moved).state).toBe("kept");
  expect(countDifferences(moved)).toBe(0);
});
