import { expect, test } from "bun:test";
import { isHeldNow, listOtherLeaders } from "../../../../lib/cli/check/leases/other_leaders.ts";
import { toMicroTime } from "../../../../lib/kube/election/lease.ts";
import type { Lease } from "../../../../lib/kube/kinds/lease.ts";

const NOW_MS = Date.UTC(2026, 0, 1);

function toLease(ageMs: number, holderIdentity = "a", leaseDurationSeconds = 15): Lease {
  const spec = { holderIdentity, leaseDurationSeconds, renewTime: toMicroTime(NOW_MS - ageMs) };
  return { metadata: { name: "cloud-controller-manager-a" }, spec };
}

test.each<[string, Lease, boolean]>([
  ["was renewed now", toLease(0), true],
  ["was renewed by a clock that is ahead", toLease(-20_000), true],
  ["was renewed by a clock that is far ahead", toLease(-3_600_000), false],
  ["is within its time and what clocks may differ", toLease(45_000), true],
  ["is over", toLease(45_001), false],
  ["lasts for minutes", toLease(100_000, "a", 120), true],
  ["was released", toLease(0, ""), false],
  ["has no time", { metadata: { name: "a" }, spec: { holderIdentity: "a" } }, false],
])("isHeldNow() judges a Lease that %s", (_title, lease, isHeld) => {
  expect(isHeldNow(lease, NOW_MS)).toBe(isHeld);
});

const own = { namespace: "n", name: "cloud-controller-manager" };

test.each([
  ["the Lease of the flags", "cloud-controller-manager-a", "remove --leader-elect=false, so"],
  [
    "another Lease",
    "cloud-controller-manager",
    "remove --leader-elect=false and set --leader-elect-resource-name=cloud-controller-manager-a, so",
  ],
])(
  "listOtherLeaders() advises a process without election beside the holder of %s",
  (_, name, advice) => {
    const options = { own: { ...own, name }, isElected: false, nowMs: NOW_MS };
    expect(listOtherLeaders([toLease(0)], options)).toMatchObject([
      { level: "warning", code: "otherLeader", advice: expect.stringContaining(advice) },
    ]);
  },
);
