/**
 * The frozen label keys, tags and instance types, and the values under them.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { NO_TAG_LABELS } from "../../../lib/cloud/tag_labels.ts";
import { isLabelKey, isLabelValue } from "../../../lib/core/text/label.ts";
import {
  findRegionLabel,
  findTagValue,
  findZone,
  formatInstanceType,
  LABEL_DESCRIPTIONS,
  listUnfitFindings,
  type Places,
  toLabels,
  toPlaces,
  toVmTagLabels,
} from "../../../lib/providers/xenorchestra/labels.ts";
import { toUuid } from "../../../lib/simulator/uuid.ts";
import { toInstance } from "../../support/cloud/instances.ts";

describe("LABEL_DESCRIPTIONS", () => {
  test("holds exactly the keys that are in clusters already", () => {
    expect(Object.keys(LABEL_DESCRIPTIONS)).toEqual([
      "vm.k8s.xenorchestra/name_label",
      "topology.k8s.xenorchestra/pool_id",
      "topology.k8s.xenorchestra/pool_name_label",
      "topology.k8s.xenorchestra/host_id",
      "topology.k8s.xenorchestra/host_name_label",
      "topology.k8s.xenorchestra/original_host_id",
      "topology.k8s.xenorchestra/original_pool_id",
    ]);
    for (const key of Object.keys(LABEL_DESCRIPTIONS)) expect(isLabelKey(key)).toBe(true);
  });
});

describe("toLabels()", () => {
  test.each([
    ["k8s-worker-1", "k8s-worker-1"],
    ["n\u0153ud-1", "n-ud-1"],
    ['odd (name) "quoted" | x:y \u00e9 & \\ #1', "odd--name---quoted----x-y--------1"],
    ["--dashes--", "dashes"],
    ["\u00e9\u00e9", ""],
    [`${"a".repeat(62)}-b`, "a".repeat(62)],
    ["a".repeat(70), "a".repeat(63)],
    [`${"a".repeat(62)}\u{1f600}`, "a".repeat(62)],
  ])("C-06 makes the VM name %p the value %p", (vmName, expected) => {
    const value = toLabels({ vmName })["vm.k8s.xenorchestra/name_label"];
    expect(value).toBe(expected);
    expect(isLabelValue(value ?? "?")).toBe(true);
  });

  test("leaves out what is not known", () => {
    expect(toLabels({ poolId: "p", powerState: "Running" })).toEqual({
      "topology.k8s.xenorchestra/pool_id": "p",
    });
  });
});

const PREFIXES = ["example.com/", "topology.k8s.xenorchestra/"];

test("toVmTagLabels() reads tags of the form key=value, with or without blanks around them", () => {
  const tags = ["k8s", "example.com/rack=7", " example.com/row = b ", "example.com/none", "=x"];
  expect(toVmTagLabels(tags, PREFIXES)?.labels).toEqual({
    "example.com/rack": "7",
    "example.com/row": "b",
  });
});

test("toVmTagLabels() leaves the labels of Xen Orchestra itself to Xen Orchestra", () => {
  const found = toVmTagLabels(["topology.k8s.xenorchestra/pool_id=x"], PREFIXES);
  expect(found?.labels).toEqual({});
  expect(found?.refused).toEqual([expect.stringContaining("is reserved")]);
});

test("toVmTagLabels() tells no labels from labels that are not known", () => {
  expect(toVmTagLabels([], PREFIXES)?.labels).toEqual({});
  expect(toVmTagLabels(undefined, PREFIXES)).toBeUndefined();
  // Without the setting there are none, whatever Xen Orchestra tells.
  expect(toVmTagLabels(undefined, [])).toBe(NO_TAG_LABELS);
  expect(toVmTagLabels(["example.com/rack=7"], [])).toBe(NO_TAG_LABELS);
});

test("toVmTagLabels() gives what nothing can change", () => {
  const found = toVmTagLabels(["example.com/rack=7"], PREFIXES);
  expect([found, found?.labels, found?.unclear].every(Object.isFrozen)).toBe(true);
});

const GIB = 2 ** 30;

describe("formatInstanceType()", () => {
  test.each([
    [4, 8, "4vCPU-8GB"],
    [1, 0.5, "1vCPU-0GB"],
    [1, 1.5, "1vCPU-2GB"],
    [2, 2.5, "2vCPU-2GB"],
    [2, 4.5, "2vCPU-4GB"],
    [2, 4.500001, "2vCPU-5GB"],
    [16, 15.9, "16vCPU-16GB"],
    [128, 1024, "128vCPU-1024GB"],
  ])("%d CPUs and %d GiB are rounded half to even", (cpus, gib, expected) => {
    expect(formatInstanceType(cpus, gib * GIB)).toBe(expected);
  });
});

describe("findTagValue()", () => {
  test.each([
    [["a", "type=big", "type=aaa"], "aaa"],
    [["type="], undefined],
    [["my-type=x"], undefined],
    [[], undefined],
  ])("of %p is %p", (tags, expected) => {
    expect(findTagValue(tags, "type=")).toBe(expected);
  });
});

const LABELS = {
  "topology.k8s.xenorchestra/pool_id": "p",
  "topology.k8s.xenorchestra/pool_name_label": "Paris",
  "topology.k8s.xenorchestra/host_id": "h",
  "topology.k8s.xenorchestra/host_name_label": "",
};

test("toPlaces() names pool and host as the cloud does, not as labels may", () => {
  const details = { poolId: "q", poolName: "Lyon · 2", hostId: "i", hostName: "xcp <1>" };
  expect(toPlaces(toInstance("a", { details }), LABELS)).toEqual([
    { kind: "pool", id: "q", name: "Lyon · 2" },
    { kind: "host", id: "i", name: "xcp <1>" },
  ]);
});

test("toPlaces() gives a VM that does not run no host, whatever its Node was labelled", () => {
  const instance = toInstance("a", { details: { poolId: "q" } });
  expect(toPlaces(instance, LABELS)).toEqual([{ kind: "pool", id: "q" }]);
});

test("toPlaces() goes by the labels of a Node whose VM is not shown", () => {
  expect(toPlaces(undefined, LABELS)).toEqual([
    { kind: "pool", id: "p", name: "Paris" },
    { kind: "host", id: "h" },
  ]);
  expect(toPlaces(undefined, {})).toEqual([]);
});

const [A, B, C] = [toUuid("a"), toUuid("b"), toUuid("c")];
const [H1, H2, H3] = [toUuid("h1"), toUuid("h2"), toUuid("h3")];

/** Pools and hosts by ID, each with its name. */
function toNamedPlaces(
  pools: Record<string, string | null>,
  hosts: Record<string, string | null> = {},
): Places {
  const toMap = (names: Record<string, string | null>) =>
    new Map(Object.entries(names).map(([id, name_label]) => [id, { id, name_label }]));
  return { pools: toMap(pools), hosts: toMap(hosts) };
}

const TWINS = toNamedPlaces(
  { [A]: "paris", [B]: "twin", [C]: "twin" },
  { [H1]: "one", [H2]: null },
);

describe("findRegionLabel()", () => {
  test.each([
    ["by ID", A, { [A]: "eu" }, "eu"],
    ["by name", A, { paris: "eu" }, "eu"],
    ["by ID rather than by name", A, { paris: "no", [A]: "eu" }, "eu"],
    ["not without an entry", A, { lyon: "eu" }, undefined],
    ["not by a name that two pools have", B, { twin: "eu" }, ""],
    ["by ID although two pools have its name", B, { twin: "no", [B]: "eu" }, "eu"],
    ["not by a name while its own is not known", H3, { paris: "eu" }, ""],
    ["not at all where only IDs are named", H3, { [A]: "eu" }, undefined],
    ["not by what every object has", A, { constructor: "eu" }, undefined],
  ] as const)("finds a pool %s", (_title, poolId, regions, expected) => {
    const settings = { regions: new Map<string, string>(Object.entries(regions)) };
    expect(findRegionLabel(poolId, TWINS, settings)).toBe(expected);
  });
});

describe("findZone() by entries", () => {
  test.each([
    ["an unknown one while its name is not known", H2, { one: "z1", paris: "z" }, undefined],
    ["that of its pool by ID", H2, { [A]: "z" }, "z"],
  ] as const)("gives a host %s", (_title, hostId, zones, expected) => {
    const own = new Map<string, string>(Object.entries(zones));
    const settings = { zoneLabelFrom: { kind: "host" } as const, zones: own };
    expect(findZone({ hostId, poolId: A }, TWINS, settings)).toBe(expected);
  });
});

test("listUnfitFindings() names entries that match nothing, or several places", () => {
  const regions = new Map([
    ["paris", "a"],
    ["twin", "b"],
    ["gone", "c"],
    [H1, "a host is no region"],
  ]);
  const zones = new Map([
    ["one", "a"],
    ["paris", "b"],
    [H2, "c"],
    ["gone", "d"],
    ["twin", "e"],
  ]);
  const found = listUnfitFindings(TWINS, { regions, zones });
  expect(
    found.map(({ code, message }) => [code, message.split(" ").slice(2, 4).join(" ")]),
  ).toEqual([
    ["ambiguousEntry", 'regions: "twin"'],
    ["unmatchedEntry", 'regions: "gone"'],
    ["unmatchedEntry", `regions: "${H1}"`],
    ["unmatchedEntry", 'zones: "gone"'],
    ["ambiguousEntry", 'zones: "twin"'],
  ]);
  expect(listUnfitFindings(TWINS, {})).toEqual([]);
});

const POOL = toUuid("pool");
const PLACES: Places = {
  pools: new Map([[POOL, { id: POOL, name_label: "paris" }]]),
  hosts: new Map([
    [H1, { id: H1, name_label: "one", $pool: POOL, tags: ["rack=r1"] }],
    [H2, { id: H2, name_label: "two", $pool: POOL }],
  ]),
};
const HOST = { kind: "host" } as const;
const NONE = { kind: "none" } as const;
const TAG = { kind: "hostTag", prefix: "rack=" } as const;

describe("findZone()", () => {
  test.each([
    ["a host", H1, HOST, undefined, H1],
    ["a host that is not known", undefined, HOST, undefined, undefined],
    ["a pool", undefined, { kind: "pool" } as const, undefined, POOL],
    ["a tag of the host", H1, TAG, undefined, "r1"],
    ["a host without that tag", H2, TAG, undefined, undefined],
    ["nothing, when no zone is wanted", H1, NONE, undefined, undefined],
    ["nothing, when no zone is wanted, whatever else is set", H1, NONE, { one: "a" }, undefined],
    ["an entry of the host", H1, HOST, { one: "a", paris: "b" }, "a"],
    ["an entry of the pool", H2, HOST, { one: "a", paris: "b" }, "b"],
    ["the host where no entry fits", H2, HOST, { one: "a" }, H2],
  ] as const)("goes by %s", (_title, hostId, zoneLabelFrom, zones, expected) => {
    const settings = { zoneLabelFrom, ...(zones && { zones: new Map(Object.entries(zones)) }) };
    expect(findZone({ hostId, poolId: POOL }, PLACES, settings)).toBe(expected);
  });

  test.each([
    ["that of its pool, where all hosts have it", HOST, { paris: "b" }, "b"],
    ["none, where a host of its pool has another", HOST, { one: "a", paris: "b" }, undefined],
    ["that which all hosts have by themselves", HOST, { one: "a", two: "a" }, "a"],
    ["none, where some hosts have entries", { kind: "pool" } as const, { one: "a" }, undefined],
  ] as const)("gives a VM that does not run %s", (_title, zoneLabelFrom, zones, expected) => {
    const settings = { zoneLabelFrom, zones: new Map(Object.entries(zones)) };
    expect(findZone({ hostId: undefined, poolId: POOL }, PLACES, settings)).toBe(expected);
  });

  test("gives none in a pool that shows no hosts", () => {
    const places = { ...PLACES, hosts: new Map() };
    const settings = { zoneLabelFrom: HOST, zones: new Map([["paris", "b"]]) };
    expect(findZone({ hostId: undefined, poolId: POOL }, places, settings)).toBeUndefined();
  });
});
