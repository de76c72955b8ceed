import { describe, expect, test } from "bun:test";
import {
  readAction,
  readChanges,
  readFields,
  readTrafficType,
} from "../../../../../lib/simulator/cloudstack/commands/rules/acl_fields.ts";
import { Parameters } from "../../../../../lib/simulator/cloudstack/parameters.ts";
import { toAclItem, toAclList, toVpc } from "../../../../../lib/simulator/cloudstack/world/vpcs.ts";

const list = toAclList("web", toVpc("k8s", "zone", "account"));
const toParameters = (fields: Record<string, string>): Parameters =>
  new Parameters(new Map(Object.entries({ command: "createNetworkACL", ...fields })));

describe("readFields()", () => {
  test("without sources it is everyone, without an end one port", () => {
    expect(readFields(toParameters({ protocol: " TCP ", startport: "80" }))).toEqual({
      protocol: "TCP",
      startPort: 80,
      endPort: 80,
      icmpType: undefined,
      icmpCode: undefined,
      cidrs: ["0.0.0.0/0", "::/0"],
    });
  });

  test("protocol 1 is ICMP, of any type", () => {
    const icmp = { protocol: "icmp", icmpType: -1, icmpCode: -1 };
    expect(readFields(toParameters({ protocol: "1" }))).toMatchObject(icmp);
    expect(readFields(toParameters({ protocol: "icmp", icmptype: "8" })).icmpType).toBe(8);
    expect(readFields(toParameters({ protocol: "50" })).protocol).toBe("50");
  });

  test.each<[Record<string, string>, string]>([
    [{ protocol: "tcp-proxy", startport: "80" }, "Invalid protocol [tcp-proxy]"],
    [{ protocol: "256" }, "Invalid protocol number"],
    [{ protocol: "tcp", startport: "0" }, "Start public port is an invalid value: 0"],
    [{ protocol: "tcp", startport: "80", endport: "65536" }, "End public port"],
    [{ protocol: "tcp", startport: "80", endport: "79" }, "bigger than end port"],
    [{ protocol: "tcp", endport: "80" }, "Start public port is an invalid value"],
    [{ protocol: "all", startport: "80" }, "must be null if protocol = 'all'"],
    [{ protocol: "icmp", startport: "80" }, "when protocol is ICMP"],
    [{ protocol: "udp", icmptype: "8" }, "ICMP protocol only"],
    [{ protocol: "tcp", cidrlist: "10.0.0.0/8,10.0.0.1" }, "formatting error 10.0.0.1"],
    [{ protocol: "tcp", startport: "http" }, "invalid value http"],
  ])("refuses %j", (fields, text) => {
    expect(() => readFields(toParameters(fields))).toThrow(text);
  });
});

describe("readChanges()", () => {
  const item = toAclItem({ list, number: 1, startPort: 80, reason: "why", action: "Deny" });

  test("keeps what is not named", () => {
    const changes = readChanges(toParameters({ cidrlist: "10.0.0.0/8" }), item, true);
    expect(changes).toMatchObject({
      protocol: "tcp",
      startPort: 80,
      cidrs: ["10.0.0.0/8"],
      action: "Deny",
      reason: "why",
    });
  });

  test("empties what is not named, when it is not partial", () => {
    const changes = readChanges(toParameters({ protocol: "udp" }), item, false);
    expect(changes).toEqual({
      protocol: "udp",
      startPort: undefined,
      endPort: undefined,
      icmpType: undefined,
      icmpCode: undefined,
      cidrs: [],
      action: "Allow",
      trafficType: "Ingress",
      reason: undefined,
    });
  });

  test("refuses what does not fit together afterwards", () => {
    expect(() => readChanges(toParameters({ endport: "79" }), item, true)).toThrow("bigger");
  });
});

test("readAction() and readTrafficType() take two words each, in any case", () => {
  const parameters = toParameters({ action: "DENY", traffictype: "egress" });
  expect([readAction(parameters), readTrafficType(parameters)]).toEqual(["Deny", "Egress"]);
  expect([readAction(toParameters({})), readTrafficType(toParameters({}))]).toEqual([
    undefined,
    undefined,
  ]);
  expect(() => readAction(toParameters({ action: "drop" }))).toThrow("Invalid action [drop]");
  expect(() => readTrafficType(toParameters({ traffictype: "in" }))).toThrow("traffic type in");
});
