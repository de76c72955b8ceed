import { describe, expect, test } from "bun:test";
import { checkSpec } from "../../../../lib/controllers/vino/resource/check_spec.ts";
import { IP_POOL_KIND, VINO_KIND } from "../../../../lib/controllers/vino/resource/crd.ts";
import { listBroken, listSchemas, listUnbounded } from "../../../support/kinds/schemas.ts";
import { RIGHT_VINOS, WRONG_VINOS } from "../../../support/vino/spec_cases.ts";

const KINDS = [VINO_KIND, IP_POOL_KIND];
const [ROOT, POOL_ROOT] = KINDS.map(({ crd }) => crd.spec.versions[0].schema.openAPIV3Schema);
const SPEC = ROOT?.properties?.["spec"] ?? { type: "none" };
const POOL_SPEC = POOL_ROOT?.properties?.["spec"] ?? { type: "none" };
const RULED = WRONG_VINOS.filter((one) => one.refusedBy === "rule");

describe("the rules of the CRD of Vinos", () => {
  for (const { title, spec } of RIGHT_VINOS) {
    test(`accept ${title}`, () => {
      expect(listBroken(SPEC, spec)).toEqual([]);
    });
  }

  for (const { title, spec, problem } of RULED) {
    test(`refuse ${title}, as checkSpec() does`, () => {
      const checked = checkSpec(spec);
      const said = checked.isValid ? [] : checked.problems.map(({ message }) => message);
      const [rule, ...others] = listBroken(SPEC, spec);
      expect(others).toEqual([]);
      // The check may also say which part breaks the rule.
      expect(said).toEqual([expect.stringContaining(rule ?? "no rule")]);
      expect(problem).toContain(said.join());
    });
  }

  test("each refuse a spec of the table", () => {
    const rules = listSchemas(SPEC).flatMap(([, one]) => one["x-kubernetes-validations"] ?? []);
    const refused = new Set(RULED.flatMap(({ spec }) => listBroken(SPEC, spec)));
    expect(rules.length).toBe(7);
    expect(rules.map(({ message }) => message).filter((one) => !refused.has(one))).toEqual([]);
  });

  test.each([
    ["Vinos", SPEC],
    ["IPPools", POOL_SPEC],
  ])("have a bounded cost: everything in the spec of %s has a largest size", (_kind, schema) => {
    expect(listUnbounded(schema)).toEqual([]);
  });
});

test("the CRDs have the names of the original operator", () => {
  expect(KINDS.map(({ crd }) => crd.metadata.name)).toEqual([
    "vinoes.airship.airshipit.org",
    "ippools.airship.airshipit.org",
  ]);
  expect(KINDS.map(({ crd }) => crd.spec.names)).toEqual([
    { kind: "Vino", listKind: "VinoList", plural: "vinoes", singular: "vino", shortNames: [] },
    {
      kind: "IPPool",
      listKind: "IPPoolList",
      plural: "ippools",
      singular: "ippool",
      shortNames: [],
    },
  ]);
  expect(KINDS.map(({ crd }) => crd.spec.versions[0].subresources)).toEqual([{ status: {} }, {}]);
});

test("the CRDs show at a glance what an object has", () => {
  const columns = KINDS.map(({ crd }) =>
    crd.spec.versions[0].additionalPrinterColumns.map(({ name }) => name),
  );
  expect(columns).toEqual([
    ["Ready", "Reason", "Machines", "Unwanted", "Hosts", "Differences", "Age"],
    ["Subnet", "Age"],
  ]);
});

test("only a wide table says whether machines differ", () => {
  const columns = VINO_KIND.crd.spec.versions[0].additionalPrinterColumns;
  const wide = columns.filter(({ priority = 0 }) => priority > 0);
  expect(wide.map(({ name, jsonPath }) => [name, jsonPath])).toEqual([
    ["Differences", '.status.conditions[?(@.type=="MachinesDiffer")].reason'],
  ]);
});

test("the CRDs describe every field", () => {
  const mute = [ROOT, POOL_ROOT].flatMap((root = { type: "none" }) =>
    listSchemas(root).filter(
      ([path, one]) => !/(\[\]|\.\*|^)$/.test(path) && one.description === undefined,
    ),
  );
  expect(mute.map(([path]) => path)).toEqual([]);
});

test("the CRDs have the fields of the original operator, with their types", () => {
  const types = new Map(
    [...listSchemas(SPEC), ...listSchemas(POOL_SPEC, "pool")].map(([path, { type }]) => [
      path,
      type,
    ]),
  );
  const texts = [
    ".nodeSelector.matchLabels.*",
    ".configuration.cpuExclude",
    ...["name", "subnet", "type", "staticAllocationStart", "staticAllocationStop"].map(
      (key) => `.networks[].${key}`,
    ),
    ...["dhcpAllocationStart", "dhcpAllocationStop", "dns_servers[]", "macPrefix"].map(
      (key) => `.networks[].${key}`,
    ),
    ...["physicalInterface", "libvirtTemplate", "bridgeName"].map((key) => `.networks[].${key}`),
    ...["network", "netmask", "gateway"].map((key) => `.networks[].routes[].${key}`),
    ...["name", "bmhLabels.*", "rootDeviceName", "bootInterfaceName", "libvirtTemplate"].map(
      (key) => `.nodes[].${key}`,
    ),
    ...["networkDataTemplate.name", "networkDataTemplate.namespace"].map(
      (key) => `.nodes[].${key}`,
    ),
    ...["name", "type", "network"].map((key) => `.nodes[].networkInterfaces[].${key}`),
    ...["name", "type", "path"].map((key) => `.nodes[].diskDrives[].${key}`),
    ...["namespacedName.name", "namespacedName.namespace", "libvirtImage", "sushyImage"].map(
      (key) => `.daemonSetOptions.${key}`,
    ),
    ...["vinoBuilderImage", "nodeAnnotatorImage"].map((key) => `.daemonSetOptions.${key}`),
    ".bmcCredentials.username",
    ".bmcCredentials.password",
    ".nodeLabelKeysToCopy[]",
    ".pxeBootImageHost",
    ...["subnet", "macPrefix", "nextMAC"].map((key) => `pool.${key}`),
    ...["ranges[].start", "ranges[].stop"].map((key) => `pool.${key}`),
    ...["allocatedTo", "start", "stop"].map((key) => `pool.allocatedRanges[].${key}`),
    ...["allocatedTo", "ip", "mac"].map((key) => `pool.allocatedIPs[].${key}`),
  ];
  const numbers = [
    ".networks[].instanceSubnetBitStep",
    ".nodes[].count",
    ".nodes[].networkInterfaces[].mtu",
    ".nodes[].diskDrives[].options.sizeGb",
    ".pxeBootImageHostPort",
  ];
  expect(texts.filter((path) => types.get(path) !== "string")).toEqual([]);
  expect(numbers.filter((path) => types.get(path) !== "integer")).toEqual([]);
  expect(types.get(".nodes[].enableVNC")).toBe("boolean");
  expect(types.get(".nodes[].diskDrives[].options.sparse")).toBe("boolean");
  expect(types.get(".nodes[].networkInterfaces[].options")).toBe("object");
});

test("the CRD of Vinos sets defaults for the whole Vino, and none for a role", () => {
  const defaults = listSchemas(SPEC).filter(([, one]) => one.default !== undefined);
  expect(Object.fromEntries(defaults.map(([path, one]) => [path, one.default]))).toEqual({
    ".nodes[].count": 0,
    ".nodes[].rootDeviceName": "/dev/xvda",
    ".nodes[].xenOrchestra.userDataSecret.key": "userData",
    ".xenOrchestra.userDataSecret.key": "userData",
    ".xenOrchestra.countPer": "Host",
    ".xenOrchestra.boot": "Template",
    ".xenOrchestra.deletionPolicy": "Retain",
    ".xenOrchestra.failureDomain": "None",
  });
});

test("the kind of Vinos names each condition with all its reasons", () => {
  const lines = VINO_KIND.conditions.map(
    ({ type, status, reason }) => `${type}=${status} ${reason}`,
  );
  expect(lines).toContain("Ready=True ReconciliationSucceeded");
  expect(lines).toContain("ContractionBlocked=True HostsInUse");
  expect(new Set(lines).size).toBe(lines.length);
});
