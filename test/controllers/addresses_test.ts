import { describe, expect, test } from "bun:test";
import type { InstanceAddress } from "../../lib/cloud/instance.ts";
import { planAddresses, toAddressPolicy } from "../../lib/controllers/addresses.ts";
import { toInstance } from "../support/cloud/instances.ts";
import { toNode } from "../support/nodes/nodes.ts";

const TYPES: Readonly<Record<string, InstanceAddress["type"]>> = {
  I: "InternalIP",
  E: "ExternalIP",
  H: "Hostname",
};

/** `I10.0.0.1 E1.2.3.4 Hname` as a list of addresses. */
function toAddresses(text: string): InstanceAddress[] {
  return text
    .split(" ")
    .filter((part) => part)
    .map((part) => ({ type: TYPES[part.slice(0, 1)] ?? "InternalDNS", address: part.slice(1) }));
}

function plan(annotation: string | undefined, cloud: string): string {
  const node = toNode("n", annotation === undefined ? {} : { nodeIp: annotation });
  const instance = toInstance("i", { addresses: toAddresses(cloud) });
  const result = planAddresses(node, instance, "verified");
  if (result.kind !== "wanted") return result.kind;
  const letter = {
    InternalIP: "I",
    ExternalIP: "E",
    Hostname: "H",
    InternalDNS: "D",
    ExternalDNS: "X",
  };
  return result.addresses.map(({ type, address }) => `${letter[type]}${address}`).join(" ");
}

describe("N-05 N-06 planAddresses() puts annotated IPs first and drops others of their type", () => {
  const long = "2600:1f14:1d4:d101:0:0:0:ba3d";
  const cases: readonly (readonly [string, string, string])[] = [
    ["10.1.1.1", "I10.1.1.1 I10.2.2.2 I10.3.3.3 E55.55.55.55 Hn", "I10.1.1.1 E55.55.55.55 Hn"],
    ["55.55.55.55", "I10.1.1.1 E55.55.55.55 Hn", "E55.55.55.55 I10.1.1.1 Hn"],
    [
      "55.55.55.55",
      "I44.44.44.44 E44.44.44.44 I55.55.55.55 E55.55.55.55 Hn",
      "I55.55.55.55 E55.55.55.55 Hn",
    ],
    ["10.2.2.2", "I10.1.1.1 E55.55.55.55 Hn", "invalid"],
    ["2600:1f14:1d4:d101::ba3d", `I10.1.1.1 I${long} Hn`, `I${long} Hn`],
    ["10.1.1.1,fc01:1234::5678", "I10.1.1.1 Hn", "invalid"],
    ["10.1.1.1,fc01:1234::5678", "Ifc01:1234::5678 I10.1.1.1 Hn", "I10.1.1.1 Ifc01:1234::5678 Hn"],
    [
      "fc01:1234::5678,10.1.1.1",
      "I10.1.1.1 E55.55.55.55 Ifc01:1234::5678 E2001:db1::1 Hn",
      "Ifc01:1234::5678 I10.1.1.1 E55.55.55.55 E2001:db1::1 Hn",
    ],
  ];
  test.each(cases)("%s of %s is %s", (annotation, cloud, wanted) => {
    expect(plan(annotation, cloud)).toBe(wanted);
  });
});

describe("N-07 planAddresses() refuses an annotation that is no IP or pair of IPs", () => {
  const bad = [
    "",
    "abc",
    "10.0.0.1,",
    "10.0.0.1,10.0.0.2",
    "10.0.0.1,fd00::1,fd00::2",
    "0.0.0.0,fd00::1",
    "10.0.0.1,::",
    "10.0.0.300",
    "0.0.0.0",
    "::",
    "127.0.0.1",
    "169.254.1.1",
    "224.0.0.1",
    "10.0.0.1,fe80::1",
  ];
  test.each(bad)("%p", (annotation) => {
    const node = toNode("n", { nodeIp: annotation });
    for (const policy of ["trusted", "verified"] as const) {
      const result = planAddresses(
        node,
        toInstance("i", { addresses: toAddresses("I10.0.0.1") }),
        policy,
      );
      expect(result.kind).toBe("invalid");
      if (result.kind === "invalid") expect(result.message).toContain(`"${annotation}"`);
    }
  });
});

test("planAddresses() trims the IPs of an annotation", () => {
  expect(plan(" 10.1.1.1 , fd00::1 ", "I10.1.1.1 Ifd00::1 Hn")).toBe("I10.1.1.1 Ifd00::1 Hn");
});

test("N-04 planAddresses() keeps the cloud's order without an annotation", () => {
  expect(plan(undefined, "I10.2.2.2 I10.1.1.1 E1.2.3.4 Hcloud")).toBe(
    "I10.2.2.2 I10.1.1.1 E1.2.3.4 Hcloud",
  );
});

test("N-03 planAddresses() keeps the kubelet's hostname last when the cloud has none", () => {
  expect(plan(undefined, "I10.1.1.1")).toBe("I10.1.1.1 Hn");
  expect(plan(undefined, "Hcloud I10.1.1.1")).toBe("Hcloud I10.1.1.1");
});

test("N-08 planAddresses() refuses an annotated IP that a verifying cloud does not know", () => {
  expect(plan("10.9.9.9", "I10.1.1.1 Hn")).toBe("invalid");
});

test("N-17 planAddresses() keeps what a Node has when the cloud tells no address", () => {
  expect(plan(undefined, "")).toBe("keep");
});

describe("planAddresses() with trusted node IPs of a machine that tells no address, as when it is halted", () => {
  const before = [
    ["InternalIP", "10.9.9.9"],
    ["ExternalIP", "1.2.3.4"],
    ["Hostname", "n"],
  ] as const;
  const has = toAddresses("I10.9.9.9 E1.2.3.4 Hn");
  test.each([
    ["keeps what the cloud told before", "10.9.9.9", has],
    ["follows the annotation all the same", "10.9.9.8", toAddresses("I10.9.9.8 E1.2.3.4 Hn")],
  ])("%s", (_title, nodeIp, addresses) => {
    const node = toNode("n", { nodeIp, addresses: before });
    expect(planAddresses(node, toInstance("i"), "trusted")).toEqual({ kind: "wanted", addresses });
  });

  test("keeps all without an annotation", () => {
    const node = toNode("n", { addresses: before });
    expect(planAddresses(node, toInstance("i"), "trusted")).toEqual({ kind: "keep" });
  });
});

describe("planAddresses() with trusted node IPs of a machine that tells what is external beside them", () => {
  const plan = (nodeIp: string, repeatsNodeIps: boolean, addresses = "I8.8.8.8"): unknown => {
    const addressesWithNodeIp = { externalIps: ["8.8.8.8", "8.8.4.4"], repeatsNodeIps };
    const instance = toInstance("i", { addresses: toAddresses(addresses), addressesWithNodeIp });
    const has = [["ExternalIP", nodeIp]] as const;
    return planAddresses(toNode("n", { nodeIp, addresses: has }), instance, "trusted");
  };
  const toWanted = (text: string): unknown => ({ kind: "wanted", addresses: toAddresses(text) });

  test.each([
    [true, "I8.8.8.8 E8.8.8.8"],
    [false, "I8.8.8.8"],
  ])("keeps one that is both, %p, while the machine tells no address", (repeats, wanted) => {
    expect(plan("8.8.8.8", repeats, "")).toEqual(toWanted(wanted));
  });
});

describe("planAddresses() of addresses that are left alone", () => {
  test.each([
    ["a Node without addresses", {}],
    ["a Node with addresses of somebody else", { addresses: [["InternalIP", "100.64.0.7"]] }],
    ["a Node whose kubelet names its IP", { nodeIp: "10.0.0.9" }],
    ["a Node whose kubelet names no IP at all", { nodeIp: "nonsense" }],
  ] as const)("keeps %s", (_title, options) => {
    const instance = toInstance("i", { addresses: [{ type: "InternalIP", address: "10.0.0.1" }] });
    expect(planAddresses(toNode("n", options), instance, "leave")).toEqual({ kind: "keep" });
  });

  test("is what the settings of a provider say", () => {
    const providedNodeIps = "trusted" as const;
    expect(toAddressPolicy({ providedNodeIps })).toBe("trusted");
    expect(toAddressPolicy({ providedNodeIps, unmanaged: new Set(["zone"]) })).toBe("trusted");
    expect(toAddressPolicy({ providedNodeIps, unmanaged: new Set(["addresses"]) })).toBe("leave");
  });
});
