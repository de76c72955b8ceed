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
