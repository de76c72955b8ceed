/**
 * What settings would change on Nodes that are in use.
 * @module
 */
import { describe, expect, test } from "bun:test";
import type { NodeChange } from "../../../lib/cli/check/outlook/changes.ts";
import { listShifts } from "../../../lib/cli/check/shifts.ts";
import { requireProvider } from "../../../lib/providers/mod.ts";

const { settings } = await requireProvider("xenorchestra");
const HOSTNAME = "Hostname n";
const ZONE = "topology.kubernetes.io/zone";
const REGION = "topology.kubernetes.io/region";
const TYPE = "node.kubernetes.io/instance-type";

const toAddresses = (before: readonly string[], after: readonly string[]): NodeChange => ({
  what: "addresses",
  addresses: [...after, HOSTNAME],
  before: [...before, HOSTNAME],
});

function list(...changes: readonly NodeChange[]): string[] {
  return listShifts([{ name: "n", changes }], settings).map(({ message }) => message);
}

describe("listShifts()", () => {
  const cases: readonly [string, NodeChange, readonly string[]][] = [
    [
      "an ExternalIP that goes",
      toAddresses(["InternalIP 10.0.0.1", "ExternalIP 10.0.0.1"], ["InternalIP 10.0.0.1"]),
      ["10.0.0.1 from ExternalIP and InternalIP to InternalIP"],
    ],
    [
      "an ExternalIP that comes, of an address that is there",
      toAddresses(["InternalIP 10.0.0.1"], ["InternalIP 10.0.0.1", "ExternalIP 10.0.0.1"]),
      ["10.0.0.1 from InternalIP to ExternalIP and InternalIP"],
    ],
    [
      "a type that changes",
      toAddresses(["ExternalIP fd00::1"], ["InternalIP fd00::1"]),
      ["fd00::1 from ExternalIP to InternalIP"],
    ],
    [
      "an address that goes",
      toAddresses(["InternalIP 10.0.0.1", "InternalIP 10.0.0.9"], ["InternalIP 10.0.0.1"]),
      ["10.0.0.9 from InternalIP to nothing"],
    ],
    ["no address that is only added", toAddresses([], ["InternalIP 10.0.0.1"]), []],
    [
      "no other order",
      toAddresses(["InternalIP a", "InternalIP b"], ["InternalIP b", "InternalIP a"]),
      [],
    ],
  ];
  test.each(cases)("names %s", (_title, change, shifts) => {
    expect(list(change)).toEqual(
      shifts.map((shift) => `addresses of 1 Node would change: n: ${shift}`),
    );
  });

  test("names a zone and an instance type that change, and none that are only added", () => {
    const labels = { [ZONE]: "b", [TYPE]: "large", other: "y" };
    const before = { [ZONE]: "a", [TYPE]: "small", other: "x" };
    expect(list({ what: "labels", labels, before })).toEqual([
      "the zone of 1 Node would change: n: from a to b",
      "the instance type of 1 Node would change: n: from small to large",
    ]);
    expect(list({ what: "labels", labels, before: {} })).toEqual([]);
  });

  test("says nothing of a Node that is yet to be initialised", () => {
    const change = toAddresses(["ExternalIP 10.0.0.1"], ["InternalIP 10.0.0.1"]);
    expect(list({ what: "initialise", labels: {} }, change)).toEqual([]);
  });

  test("counts all Nodes and names three", () => {
    const changes = [toAddresses(["ExternalIP 10.0.0.1"], ["InternalIP 10.0.0.1"])];
    const nodes = ["a", "b", "c", "d", "e"].map((name) => ({ name, changes }));
    const [finding] = listShifts(nodes, settings);
    const shift = "10.0.0.1 from ExternalIP to InternalIP";
    expect(finding?.level).toBe("warning");
    expect(finding?.message).toBe(
      `addresses of 5 Nodes would change: a: ${shift}; b: ${shift}; c: ${shift}; and 2 more`,
    );
  });

  test("advises only settings that the cloud has, and every one that it names is one", () => {
    const labels = { [ZONE]: "b", [REGION]: "y", [TYPE]: "large" };
    const changes: NodeChange[] = [
      toAddresses(["InternalIP 10.0.0.1"], []),
      { what: "labels", labels, before: { [ZONE]: "a", [REGION]: "x", [TYPE]: "small" } },
    ];
    const advise = (known: typeof settings): string[] =>
      listShifts([{ name: "n", changes }], known).map(
        ({ advice = "" }) => advice.split(": ")[1] ?? "",
      );
    expect(advise(settings)).toEqual([
      "addresses.mainIpAsExternal, addresses.externalCIDRs, addresses.exclude, addresses.network",
      "zoneLabelFrom, zones",
      "regions",
      "instanceTypeTag",
    ]);
    expect(advise([])).toEqual(["", "", "", ""]);
  });
});
