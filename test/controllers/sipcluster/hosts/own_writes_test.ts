/**
 * Which of two states of a host is the newer one.
 * @module
 */
import { expect, test } from "bun:test";
import { OwnWrites } from "../../../../lib/controllers/sipcluster/hosts/own_writes.ts";
import type { BareMetalHost } from "../../../../lib/kube/kinds/bare_metal_host.ts";
import { ManualClock } from "../../../support/manual_clock.ts";
import { toClaimLabels, toHost } from "../../../support/sipcluster/hosts.ts";

const KEY = "metal3/h";
const OURS = toClaimLabels("a");

function toVersion(version: number, labels: Record<string, string> = {}): BareMetalHost {
  return toHost("h", { labels }, { resourceVersion: String(version) });
}

test.each<[string, BareMetalHost, boolean]>([
  ["the version that was replaced", toVersion(1), true],
  ["a version between, without our labels", toVersion(2), true],
  ["the version that was written", toVersion(3, OURS), false],
  ["a later version with our labels", toVersion(4, { ...OURS, rack: "r1" }), false],
  ["another host of the name", toHost("h", {}, { uid: "other" }), false],
])("resolve() takes our write for newer than %s, or not", (_what, stored, isOlder) => {
  const writes = new OwnWrites(new ManualClock());
  const written = toVersion(3, OURS);
  writes.note(toVersion(1), written);
  expect(writes.resolve(KEY, stored)).toBe(isOlder ? written : stored);
});

test("resolve() forgets a write that the store has shown", () => {
  const writes = new OwnWrites(new ManualClock());
  writes.note(toVersion(1), toVersion(2, OURS));
  writes.resolve(KEY, toVersion(2, OURS));
  const later = toVersion(3);
  expect(writes.resolve(KEY, later)).toBe(later);
});

test("resolve() gives nothing for a host that is gone, and the store's for others", () => {
  const writes = new OwnWrites(new ManualClock());
  expect(writes.resolve("metal3/other", toVersion(1))).toEqual(toVersion(1));
  writes.note(toVersion(1), toVersion(2, OURS));
  expect(writes.resolve(KEY, undefined)).toBeUndefined();
});

test("note() ignores an answer that is not newer", () => {
  const writes = new OwnWrites(new ManualClock());
  writes.note(toVersion(1, OURS), toVersion(1, OURS));
  expect(writes.resolve(KEY, toVersion(1))).toEqual(toVersion(1));
});

test("listExpired() names hosts that the store did not show within 10 s, counted from the last write", async () => {
  const clock = new ManualClock();
  const writes = new OwnWrites(clock);
  writes.note(toVersion(1), toVersion(2, OURS));
  writes.note(toHost("other"), toHost("other", { labels: OURS }, { resourceVersion: "2" }));
  await clock.advance(5_000);
  writes.note(toVersion(2, OURS), toVersion(3));
  expect(writes.listExpired()).toEqual([]);
  await clock.advance(5_000);
  expect(writes.listExpired()).toEqual(["metal3/other"]);
  await clock.advance(5_000);
  expect(writes.listExpired()).toEqual(["metal3/other", KEY]);
});

test("resolve() holds what our write replaced for old much longer than other versions", async () => {
  const clock = new ManualClock();
  const writes = new OwnWrites(clock);
  const written = toVersion(3, OURS);
  writes.note(toVersion(1), written);
  await clock.advance(10_000);
  expect(writes.resolve(KEY, toVersion(1))).toBe(written);
  await clock.advance(590_000);
  expect(writes.resolve(KEY, toVersion(1))).toEqual(toVersion(1));
  writes.note(toVersion(1), written);
  await clock.advance(10_000);
  expect(writes.resolve(KEY, toVersion(2))).toEqual(toVersion(2));
});
