import { expect, test } from "bun:test";
import { listRangeProblems } from "../../../../lib/controllers/vino/resource/address_range.ts";

test.each<[subnet: string, start: string, stop: string, problems: string[]]>([
  ["192.0.2.0/24", "192.0.2.0", "192.0.2.255", []],
  ["192.0.2.77/24", "192.0.2.9", "192.0.2.9", []],
  ["192.0.2.0/24", "192.0.2.10", "192.0.2.9", ["start must not be greater than stop"]],
  [
    "192.0.2.0/24",
    "192.0.1.255",
    "192.0.3.0",
    ["start must be in 192.0.2.0/24", "stop must be in 192.0.2.0/24"],
  ],
  ["2001:db8::/64", "2001:db8::9", "2001:db8::a", []],
  ["2001:db8::/64", "2001:db8:0:1::", "2001:db8::a", ["start must be in 2001:db8::/64"]],
  ["2001:db8::/64", "192.0.2.1", "2001:db8::a", ["start must be in 2001:db8::/64"]],
  ["::/0", "192.0.2.1", "192.0.2.2", ["start must be in ::/0", "stop must be in ::/0"]],
  // Another problem says so.
  ["192.0.2.0/99", "192.0.2.1", "192.0.2.2", []],
  ["192.0.2.0", "192.0.2.1", "192.0.2.2", []],
  ["192.0.2.0/24", "x", "192.0.3.2", []],
])("listRangeProblems() of %s: %s to %s", (subnet, start, stop, problems) => {
  expect(listRangeProblems(subnet, { start, stop })).toEqual(problems);
});
