import { expect, test } from "bun:test";
import {
  mayBeHostOf,
  toCredentialsName,
  toHostName,
  toNetworkDataName,
} from "../../../../lib/controllers/vino/hosts/names.ts";

const LONG = "v".repeat(60);

test("toHostName() never changes: hosts in clusters have these names", () => {
  const names = [
    { vino: "edge", role: "worker", index: 3 },
    { vino: "edge.site-1", role: "cp", index: 12 },
    { vino: LONG, role: "worker", index: 0 },
  ].map(toHostName);
  expect(names).toEqual([
    "edge-worker-3",
    "edge.site-1-cp-12",
    "vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv-d79e648f",
  ]);
});

test("toHostName() gives long Vinos different names of at most 63 characters for each machine", () => {
  const names = Array.from({ length: 50 }, (_, index) =>
    toHostName({ vino: LONG, role: "worker", index }),
  );
  expect(new Set(names).size).toBe(names.length);
  for (const name of names) expect(name).toMatch(/^(?=.{1,63}$)[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/);
});

test("mayBeHostOf() knows the names of all hosts of a Vino, also of a long one", () => {
  for (const vino of ["edge", "edge.site-1", "v".repeat(47), "v".repeat(53), LONG]) {
    expect(mayBeHostOf(vino, toHostName({ vino, role: "worker", index: 3 }))).toBe(true);
  }
  expect(
    ["edge-worker-3", "edgeworker-3", "core-worker-3"].map((one) => mayBeHostOf("edge", one)),
  ).toEqual([true, false, false]);
});

test("the names of Secrets never change", () => {
  expect([toNetworkDataName("edge-worker-3"), toCredentialsName("edge-worker-3")]).toEqual([
    "edge-worker-3-network-data",
    "edge-worker-3-bmc-credentials",
  ]);
});
