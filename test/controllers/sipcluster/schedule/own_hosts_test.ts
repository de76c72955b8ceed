import { expect, test } from "bun:test";
import { rateHosts } from "../../../../lib/controllers/sipcluster/schedule/own_hosts.ts";
import { type HostWords, toHost } from "../../../support/sipcluster/scheduling.ts";

const ACTIVE: HostWords = { role: "Worker" };
const STANDBY: HostWords = { role: "Worker", standby: true };
const USED = { isInUse: true };
const PAUSED = { isUntouchable: true, trouble: "paused" };
const BROKEN = { trouble: "unhealthy" };

test.each<[string, readonly HostWords[], number, string]>([
  ["what they are now", [STANDBY, ACTIVE], 1, "b"],
  ["standby hosts where others are missing", [STANDBY, ACTIVE], 2, "a b"],
  ["new hosts before standby hosts", [STANDBY, {}], 1, "b"],
  ["hosts in use before idle ones", [ACTIVE, { ...STANDBY, ...USED }], 1, "b"],
  ["fit hosts before broken ones", [{ ...ACTIVE, ...BROKEN }, STANDBY], 1, "b"],
  [
    "hosts in use, even too many",
    [
      { ...ACTIVE, ...USED },
      { ...ACTIVE, ...USED },
    ],
    1,
    "a b",
  ],
  ["the first of equal hosts", [ACTIVE, ACTIVE], 1, "a"],
  [
    "untouchable hosts as they are",
    [{ ...ACTIVE, ...PAUSED }, { ...STANDBY, ...PAUSED }, ACTIVE],
    1,
    "a",
  ],
  ["no new host too many, even one that another program provisioned", [ACTIVE, USED, USED], 1, "b"],
])("rateHosts() keeps active: %s", (_, words, active, expected) => {
  const hosts = words.map((one, at) => toHost("abc"[at] ?? "", one));
  const rated = rateHosts(hosts.toReversed(), active);
  const names = rated.filter(({ standby }) => !standby).map(({ host }) => host.key.slice(6));
  expect(names.toSorted().join(" ")).toBe(expected);
  expect(rated).toHaveLength(hosts.length);
});
