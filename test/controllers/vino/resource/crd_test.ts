/**
 * The CRD of Vinos, and the check of their specs.
 * @module
 */
import * as v from "valibot";
import { describe, expect, test } from "bun:test";
import {
  checkPoolSpec,
  checkSpec,
  checkVino,
} from "../../../../lib/controllers/vino/resource/check_spec.ts";
import { IP_POOL_KIND, VINO_KIND } from "../../../../lib/controllers/vino/resource/crd.ts";
import {
  listBroken,
  listPaths,
  listSchemas,
  listUnbounded,
} from "../../../support/kinds/schemas.ts";
import { RIGHT_VINOS, WRONG_POOLS, WRONG_VINOS } from "../../../support/vino/spec_cases.ts";
import {
  listDoubleDefaults,
  listGatewayProblems,
  mayBeHost,
  toBytes,
  idOrName,
  ipAddress,
  macAddress,
  namePart,
  size,
  subnet,
} from "../../../../lib/controllers/vino/resource/schema/fields.ts";
import type {
  MachineForm,
  VinoRoute,
  VinoSpec,
} from "../../../../lib/controllers/vino/resource/vino.ts";
import { toRoleForm } from "../../../../lib/controllers/vino/resource/role_form.ts";
import {
  listUnsupportedFields,
  type Finding,
  listIncompleteFindings,
  listInvalidFindings,
  listSpecFindings,
} from "../../../../lib/controllers/vino/resource/conditions.ts";
import { VINO_SAMPLES } from "../../../support/kinds/samples.ts";
import { describeProblems } from "../../../../lib/controllers/kinds/problems.ts";
import { listRangeProblems } from "../../../../lib/controllers/vino/resource/ip_pool.ts";
import type { KindDefinition } from "../../../../lib/controllers/definition.ts";

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

const NO_HOSTS = ["0.0.0.0", "0.1.2.3", "224.0.0.1", "255.255.255.255", "::", "ff02::1"];
const HOSTS = ["192.0.2.1", "2001:db8::1", "fe80::1", "169.254.1.1", "127.0.0.53", "$vinobridge"];

test("mayBeHost() refuses what no host has, and nothing else", () => {
  expect([...NO_HOSTS, ...HOSTS].filter(mayBeHost)).toEqual(HOSTS);
});

const SUBNET = "192.0.2.0/24";
const OUTSIDE = "must be in 192.0.2.0/24, but is";

test.each<[subnet: string | undefined, gateway: string, problem: string | undefined]>([
  [SUBNET, "192.0.2.1", undefined],
  [SUBNET, "192.0.2.254", undefined],
  [
    "192.0.2.77/24",
    "192.0.2.0",
    "must not be the address of the subnet 192.0.2.0/24 itself, but is 192.0.2.0",
  ],
  [SUBNET, "192.0.2.255", "must not be the broadcast address of 192.0.2.0/24, but is 192.0.2.255"],
  [SUBNET, "192.0.3.1", `${OUTSIDE} 192.0.3.1`],
  // Each has its own problem, or is left out.
  [SUBNET, "0.0.0.0", undefined],
  [SUBNET, "none", undefined],
  [SUBNET, "$vinobridge", undefined],
  [SUBNET, "2001:db8::1", undefined],
  // A network may have routes of both families and a subnet of one.
  ["2001:db8::/64", "192.0.2.1", undefined],
  ["2001:db8::/64", "2001:db8::", undefined],
  ["2001:db8::/64", "2001:db8::ffff:ffff:ffff:ffff", undefined],
  ["2001:db8::/64", "fe80::1", undefined],
  ["2001:db8::/64", "2001:db8:1::1", "must be in 2001:db8::/64, but is 2001:db8:1::1"],
  // Links with two ends, and hosts alone, reach their gateway without a subnet.
  ["192.0.2.0/31", "192.0.2.0", undefined],
  ["192.0.2.9/32", "198.51.100.1", undefined],
  [undefined, "192.0.2.255", undefined],
])("listGatewayProblems() with the subnet %s and the gateway %s", (subnet, gateway, problem) => {
  const routes = [{ network: "10.0.0.0", netmask: "255.0.0.0", gateway }];
  const network = { name: "oam", ...(subnet !== undefined && { subnet }), routes };
  const found = listGatewayProblems({ ...network, staticAllocationStart: "192.0.2.10" });
  expect(found).toEqual(problem === undefined ? [] : [`routes[0].gateway ${problem}`]);
  expect(listGatewayProblems(network)).toEqual([]);
});

function toDefault(gateway: string, zero = "0.0.0.0"): VinoRoute {
  return { network: zero, netmask: zero, gateway };
}

test.each<[string, readonly VinoRoute[], readonly VinoRoute[], string[]]>([
  ["one", [toDefault("192.0.2.1")], [], []],
  ["one of each family", [toDefault("192.0.2.1")], [toDefault("2001:db8::1", "::")], []],
  ["one beside the bridge of old", [toDefault("192.0.2.1")], [toDefault("$vinobridge")], []],
  [
    "one besides the lower half of addresses",
    [toDefault("192.0.2.1")],
    [{ network: "0.0.0.0", netmask: "128.0.0.0", gateway: "192.0.2.2" }],
    [],
  ],
  [
    "two of different networks",
    [toDefault("192.0.2.1")],
    [toDefault("198.51.100.1")],
    ["role a has 192.0.2.1 of network oam and 198.51.100.1 of network pxe for IPv4"],
  ],
  [
    "two of one network",
    [toDefault("2001:db8::1", "::"), toDefault("2001:db8::2", "::")],
    [],
    ["role a has 2001:db8::1 of network oam and 2001:db8::2 of network oam for IPv6"],
  ],
])("listDoubleDefaults() with %s", (_what, first, second, doubles) => {
  const networks = [
    { name: "oam", routes: first },
    { name: "pxe", routes: second },
  ];
  const networkInterfaces = networks.map(({ name }, at) => ({ name: `eth${at}`, network: name }));
  const alone = { name: "b", networkInterfaces: networkInterfaces.slice(1) };
  expect(
    listDoubleDefaults({ networks, nodes: [{ name: "a", networkInterfaces }, alone] }),
  ).toEqual(doubles);
});

test("listDoubleDefaults() counts a network once that has several interfaces of a machine", () => {
  const networks = [{ name: "oam", routes: [toDefault("192.0.2.1")] }];
  const networkInterfaces = ["eth0", "eth1"].map((name) => ({ name, network: "oam" }));
  expect(listDoubleDefaults({ networks, nodes: [{ name: "a", networkInterfaces }] })).toEqual([]);
});

const WHOLE: MachineForm = { template: "ubuntu", cpus: 2, memory: "8Gi" };

function toSpec(whole: MachineForm, role?: MachineForm): VinoSpec {
  return { xenOrchestra: whole, nodes: [{ name: "a", ...(role && { xenOrchestra: role }) }] };
}

describe("toRoleForm()", () => {
  test("takes what the whole Vino says, and defaults", () => {
    expect(toRoleForm(toSpec(WHOLE), 0)).toEqual({
      isComplete: true,
      form: {
        template: "ubuntu",
        cpus: 2,
        memoryBytes: 8 * 2 ** 30,
        disks: [],
        countPer: "Host",
        boot: "Template",
        hosts: {},
      },
    });
  });

  test("takes what the role says instead, lists as a whole", () => {
    const whole: MachineForm = {
      ...WHOLE,
      disks: [
        { name: "root", size: "1Gi" },
        { name: "data", size: "1Gi" },
      ],
      hosts: { tags: ["vino"] },
      userDataSecret: { name: "whole", key: "value" },
      countPer: "Total",
    };
    const role: MachineForm = {
      cpus: 4,
      disks: [{ name: "root", size: "2Gi", sr: "local" }],
      hosts: { ids: ["h1"] },
      userDataSecret: { name: "role" },
      boot: "Network",
    };
    expect(toRoleForm(toSpec(whole, role), 0)).toEqual({
      isComplete: true,
      form: {
        template: "ubuntu",
        cpus: 4,
        memoryBytes: 8 * 2 ** 30,
        disks: [{ name: "root", sizeBytes: 2 * 2 ** 30, sr: "local" }],
        countPer: "Total",
        boot: "Network",
        userDataSecret: { name: "role", key: "userData" },
        hosts: { ids: ["h1"] },
      },
    });
  });

  test("names what is missing, with its path", () => {
    const message = "must be set here or in spec.xenOrchestra, because a machine needs it";
    expect(
      toRoleForm({ nodes: [{ name: "a" }, { name: "b", xenOrchestra: { cpus: 1 } }] }, 1),
    ).toEqual({
      isComplete: false,
      missing: [
        { path: "spec.nodes[1].xenOrchestra.template", message },
        { path: "spec.nodes[1].xenOrchestra.memory", message },
      ],
    });
  });
});

async function listOfSample(name: "all-fields" | "tenant"): Promise<string[]> {
  const vino = (await VINO_SAMPLES.read(name)).find(({ kind }) => kind === "Vino");
  const checked = checkSpec(vino?.spec);
  return checked.isValid ? listUnsupportedFields(checked.spec) : ["invalid"];
}

test("listUnsupportedFields() lists what only libvirt could use, in the order of the spec", async () => {
  expect(await listOfSample("all-fields")).toEqual([
    "spec.nodeSelector",
    "spec.configuration",
    "spec.daemonSetOptions",
    "spec.pxeBootImageHost",
    "spec.pxeBootImageHostPort",
    "spec.networks[0].dhcpAllocationStart",
    "spec.networks[0].dhcpAllocationStop",
    "spec.networks[0].instanceSubnetBitStep",
    "spec.networks[0].physicalInterface",
    "spec.networks[0].libvirtTemplate",
    "spec.networks[0].bridgeName",
    "spec.networks[0].routes[1]",
    "spec.nodes[0].networkInterfaces[1].type",
    "spec.nodes[0].networkInterfaces[1].options",
    "spec.nodes[0].networkDataTemplate",
    "spec.nodes[0].enableVNC",
    "spec.nodes[0].libvirtTemplate",
    "spec.nodes[0].diskDrives",
  ]);
});

test("listUnsupportedFields() lists labels that only Landfall sets", () => {
  const spec = {
    nodeLabelKeysToCopy: ["example.com/rack", "landfall.dev/rack"],
    nodes: [
      {
        name: "worker",
        bmhLabels: {
          "vino.airshipit.org/vino": "other",
          "vino.airshipit.org/role": "other",
          "landfall.dev/vino-uid": "other",
        },
      },
    ],
  };
  expect(listUnsupportedFields(spec)).toEqual([
    "spec.nodeLabelKeysToCopy[1]",
    "spec.nodes[0].bmhLabels[vino.airshipit.org/vino]",
    "spec.nodes[0].bmhLabels[landfall.dev/vino-uid]",
  ]);
});

test("listUnsupportedFields() lists nothing of a new manifest", async () => {
  expect(await listOfSample("tenant")).toEqual([]);
  expect(listUnsupportedFields({})).toEqual([]);
});

test("listUnsupportedFields() lists a kind of addresses that is not that of the subnet", () => {
  const list = (type: string, subnet?: string): string[] =>
    listUnsupportedFields({
      networks: [{ name: "a", type, ...(subnet !== undefined && { subnet }) }],
    });
  expect(list("ipv6", "2001:db8::/64")).toEqual([]);
  expect(list("ipv6", "192.0.2.0/24")).toEqual(["spec.networks[0].type"]);
  expect(list("ipv4_dhcp", "192.0.2.0/24")).toEqual(["spec.networks[0].type"]);
  expect(list("ipv4")).toEqual(["spec.networks[0].type"]);
});

describe("checkSpec() accepts", () => {
  for (const { title, spec } of RIGHT_VINOS) {
    test(title, () => {
      const checked: unknown = checkSpec(spec);
      expect(checked).toEqual({ isValid: true, spec });
    });
  }
});

describe("checkSpec() refuses", () => {
  for (const { title, spec, problem } of WRONG_VINOS) {
    test(title, () => {
      const checked = checkSpec(spec);
      expect(checked.isValid ? "no problem" : describeProblems(checked.problems)).toBe(problem);
    });
  }
});

describe("checkPoolSpec() refuses", () => {
  for (const { title, spec, problem } of WRONG_POOLS) {
    test(title, () => {
      const checked = checkPoolSpec(spec);
      expect(checked.isValid ? "no problem" : describeProblems(checked.problems)).toBe(problem);
    });
  }
});

test("checkSpec() never shows a password, whatever it is", () => {
  for (const password of [42, "secret-word".repeat(100), ["secret-word"], { a: "secret-word" }]) {
    const checked = checkSpec({ bmcCredentials: { username: "admin", password } });
    const said = checked.isValid ? "valid" : describeProblems(checked.problems);
    expect(said).toMatch(/^spec\.bmcCredentials\.password: must (be text|have at most 1024 char)/);
    expect(said).not.toMatch(/secret-word|42/);
  }
});

test("checkVino() refuses a name that cannot be the value of a label", () => {
  const check = (name: string): unknown => checkVino({ metadata: { name }, spec: {} });
  expect(check("a".repeat(63))).toMatchObject({ isValid: true });
  expect(check("a".repeat(64))).toMatchObject({
    isValid: false,
    problems: [{ path: "metadata.name" }],
  });
});

test("the longest name of a machine is a DNS label", () => {
  const name = (length: number) => `vino-12345678-${"a".repeat(length)}-99999`;
  const accepts = (length: number): boolean =>
    checkSpec({ nodes: [{ name: "a".repeat(length) }] }).isValid;
  const longest = Array.from({ length: 64 }, (_, length) => length).findLast(accepts) ?? 0;
  expect(longest).toBe(32);
  expect(name(longest).length).toBeLessThanOrEqual(63);
});

function toLines(findings: readonly Finding[]): string[] {
  return findings.map(
    ({ type, status, reason, message }) => `${type}=${status} ${reason}: ${message}`,
  );
}

const PROBLEMS = [{ path: "spec.nodes[0].name", message: "must be set" }];

test("listInvalidFindings() names the fields", () => {
  expect(toLines(listInvalidFindings(PROBLEMS))).toEqual([
    "Ready=False InvalidSpec: spec.nodes[0].name: must be set",
    "MachinesReady=False InvalidSpec: spec.nodes[0].name: must be set",
  ]);
});

test("listIncompleteFindings() names what is missing", () => {
  expect(toLines(listIncompleteFindings(PROBLEMS))).toEqual([
    "Ready=False MachineFormMissing: spec.nodes[0].name: must be set",
    "MachinesReady=False MachineFormMissing: spec.nodes[0].name: must be set",
  ]);
});

test("listSpecFindings() says that nothing is wrong with a new manifest", () => {
  const spec = { bmcCredentials: { secretRef: { name: "bmc" } } };
  expect(toLines(listSpecFindings(spec))).toEqual([
    "UnsupportedFields=False AllFieldsUsed: The spec has no field without a meaning",
    "CredentialsInClearText=False NoPasswordInSpec: The spec has no password",
  ]);
});

test("listSpecFindings() names fields without a meaning, and warns of a password without showing it", () => {
  const [unsupported = "", clearText = ""] = toLines(
    listSpecFindings({
      pxeBootImageHost: "192.0.2.1",
      bmcCredentials: { username: "admin", password: "secret-word" },
    }),
  );
  expect(unsupported).toBe(
    "UnsupportedFields=True FieldsWithoutMeaning: These fields have no effect, remove them: spec.pxeBootImageHost",
  );
  expect(clearText).toStartWith(
    "CredentialsInClearText=True PasswordInSpec: Everyone who may read",
  );
  expect(clearText).not.toContain("secret-word");
});

test("listSpecFindings() names fifty fields, and counts the others", () => {
  const nodes = Array.from({ length: 53 }, (_, at) => ({ name: `n${at}`, enableVNC: true }));
  const [unsupported = ""] = toLines(listSpecFindings({ nodes }));
  expect(unsupported).toEndWith("spec.nodes[49].enableVNC, and 3 more");
});

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

test.each([
  ["0", 0],
  ["8589934592", 8_589_934_592],
  ["1k", 1000],
  ["500G", 500_000_000_000],
  ["8Gi", 8 * 2 ** 30],
  ["1.5Ti", 1.5 * 2 ** 40],
  ["0.5", 1],
  ["0.0001Ki", 1],
  ["2Pi", 2 * 2 ** 50],
])("toBytes() reads %s", (size, bytes) => {
  expect(toBytes(size)).toBe(bytes);
});

test.each(["", "Gi", "8 Gi", "8GiB", "8g", "8K", "-1", "+1", "1e3", ".5", "1.", "999999P", "８"])(
  "toBytes() refuses %s",
  (size) => {
    expect(toBytes(size)).toBeUndefined();
  },
);

const objects = (await Promise.all(VINO_SAMPLES.names.map(VINO_SAMPLES.read))).flat();
const vinos = objects.filter(({ kind }) => kind === "Vino");
const pools = objects.filter(({ kind }) => kind === "IPPool");

function toSpecSchema({ crd }: KindDefinition) {
  const root = crd.spec.versions[0].schema.openAPIV3Schema;
  return root.properties?.["spec"] ?? root;
}

test("the samples are right, and nothing of them is left out", () => {
  expect([vinos.length, pools.length]).toEqual([5, 2]);
  for (const { spec } of vinos) {
    const checked: unknown = checkSpec(spec);
    expect(checked).toEqual({ isValid: true, spec });
    expect(listBroken(toSpecSchema(VINO_KIND), spec)).toEqual([]);
  }
  for (const { spec } of pools) {
    const checked: unknown = checkPoolSpec(spec);
    expect(checked).toEqual({ isValid: true, spec });
  }
});

test.each([
  [VINO_KIND, vinos],
  [IP_POOL_KIND, pools],
])("the samples have every field that a spec may have", (kind, samples) => {
  const schema = toSpecSchema(kind);
  const used = new Set(samples.flatMap(({ spec }) => listPaths(schema, spec)));
  expect([...new Set(listPaths(schema))].filter((path) => !used.has(path))).toEqual([]);
});

test("the samples have every word that a field may have", () => {
  const texts = new Set(JSON.stringify(vinos).match(/"(?:[^"\\]|\\.)*"/g));
  const words = listSchemas(toSpecSchema(VINO_KIND)).flatMap(([, one]) => one.enum ?? []);
  expect(words.length).toBeGreaterThan(0);
  expect(words.filter((word) => !texts.has(JSON.stringify(word)))).toEqual([]);
});

test("the sample of a tenant says what each role's machines are like", () => {
  const tenant = vinos.find(({ metadata }) => metadata.name === "wordpress");
  const checked = checkSpec(tenant?.spec);
  const forms = checked.isValid ? [0, 1].map((at) => toRoleForm(checked.spec, at)) : [];
  expect(forms).toMatchObject([
    { isComplete: true, form: { cpus: 4, countPer: "Total" } },
    { isComplete: true, form: { cpus: 8, countPer: "Host", memoryBytes: 32 * 2 ** 30 } },
  ]);
});

const CASES: readonly [
  title: string,
  schema: v.GenericSchema,
  right: readonly unknown[],
  wrong: readonly unknown[],
][] = [
  ["ipAddress()", ipAddress(), ["192.0.2.1", "2001:db8::1"], ["", "192.0.2.01", "192.0.2.0/24", 1]],
  [
    "subnet()",
    subnet(),
    ["192.0.2.0/24", "192.0.2.77/24", "2001:db8::/64", "::/0", "192.0.2.1/32"],
    ["192.0.2.0", "192.0.2.0/", "192.0.2.0/33", "2001:db8::/129", "x/24"],
  ],
  [
    "macAddress()",
    macAddress(),
    ["02:00:00:00:00:01", "52:54:00:AB:cd:eF"],
    [
      "a:b",
      "02:00:00:00:00",
      "03:00:00:00:00:01",
      "020000000001",
      "02:00:00:00:00:0g",
      "02:00:00:00:00:01:00",
    ],
  ],
  ["namePart()", namePart(3), ["a", "a-1"], ["", "-a", "a-", "A", "a.b", "abcd"]],
  ["idOrName()", idOrName(), ["a b", "0"], ["", " ", "a".repeat(257)]],
  ["size()", size("1Ki", "1Mi"), ["1Ki", "1024", "1Mi"], ["1023", "1.1Mi", "1 Ki", 1024]],
];

test.each(CASES)("%s accepts and refuses values", (_title, schema, right, wrong) => {
  expect(right.filter((value) => !v.is(schema, value))).toEqual([]);
  expect(wrong.filter((value) => v.is(schema, value))).toEqual([]);
});
