import { describe, expect, test } from "bun:test";
import {
  isInConflict,
  toFirewallRule,
  type FirewallRuleOptions,
} from "../../../../lib/simulator/cloudstack/world/firewall.ts";
import { toPublicIp } from "../../../../lib/simulator/cloudstack/world/records.ts";

const ip = { ...toPublicIp("192.0.2.10", "z", "a"), networkId: "n" };

test("toFirewallRule() lets TCP in from everywhere, to one port or to all", () => {
  expect(toFirewallRule({ ip, startPort: 80 })).toMatchObject({
    ipId: ip.id,
    networkId: "n",
    accountId: "a",
    protocol: "tcp",
    startPort: 80,
    endPort: 80,
    cidrs: ["0.0.0.0/0"],
    state: "Active",
  });
  expect(toFirewallRule({ ip })).not.toHaveProperty("endPort");
  const ids = [80, 81, 80].map((startPort) => toFirewallRule({ ip, startPort }).id);
  expect(new Set(ids).size).toBe(2);
});

describe("isInConflict()", () => {
  const A = "10.0.0.0/8";
  const B = "192.168.0.0/16";
  test.each<[string, Partial<FirewallRuleOptions>, boolean]>([
    ["the same", {}, true],
    ["a range around it", { startPort: 79, endPort: 443 }, true],
    ["a range that ends in it", { startPort: 1, endPort: 80 }, true],
    ["the port beside it", { startPort: 81 }, false],
    ["another protocol", { protocol: "udp" }, false],
    ["one source in common", { cidrs: [B, A] }, true],
    ["no source in common, though one contains the other", { cidrs: ["0.0.0.0/0"] }, false],
    ["one that is being deleted", { state: "Revoke" }, false],
    ["another address", { ip: { ...ip, id: "other" } }, false],
  ])("of TCP 80 and %s", (_, options, expected) => {
    const rule = toFirewallRule({ ip, startPort: 80, cidrs: [A] });
    const made = { startPort: 80, cidrs: [A], ...options };
    const other = { ...toFirewallRule({ ip, ...made }), state: options.state ?? "Active" };
    expect(isInConflict(rule, other)).toBe(expected);
  });

  test("of rules for every port, which never meet one for some", () => {
    const all = toFirewallRule({ ip });
    expect(isInConflict(all, toFirewallRule({ ip }))).toBe(true);
    expect(isInConflict(all, toFirewallRule({ ip, startPort: 80 }))).toBe(false);
  });

  test("of ICMP rules by type and code", () => {
    const icmp = (icmpType: number) =>
      toFirewallRule({ ip, protocol: "icmp", icmpType, icmpCode: -1 });
    expect(isInConflict(icmp(8), icmp(8))).toBe(true);
    expect(isInConflict(icmp(8), icmp(0))).toBe(false);
  });
});
