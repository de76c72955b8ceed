/**
 * What the server says about one ID, and how replies are read.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { ApiError } from "../../../../lib/providers/cloudstack/session/errors.ts";
import type { ObjectList } from "../../../../lib/providers/cloudstack/session/lists.ts";
import { CloudStackApi, type VmReading } from "../../../../lib/providers/cloudstack/wire/api.ts";
import {
  CIDRS,
  type Field,
  FLAG,
  ID,
  NAME,
  PORT,
  REFERENCE,
  SCHEMAS,
  TEXT,
  type Vm,
  WHOLE_NUMBER,
} from "../../../../lib/providers/cloudstack/wire/schema.ts";
import {
  type NetworkService,
  readServices,
} from "../../../../lib/providers/cloudstack/wire/objects.ts";
import { array, assert, constantFrom, integer, ipV4, property, tuple } from "fast-check";
import { object } from "valibot";
import { decode } from "../../../../lib/cloud_http/decode.ts";

const [VM_ID = "", OTHER = ""] = ["a", "b"].map(
  (end) => `0a1b2c3d-0000-4000-8000-00000000000${end}`,
);
const signal = new AbortController().signal;

/** Reads the VM from a server that answers with this list, or refuses. */
async function read(answer: Partial<ObjectList<Vm>> | Error): Promise<VmReading> {
  const give = (): Promise<never> => {
    const list = { objects: [], undecodable: new Map(), ...answer };
    // The session reads lists of any kind of objects.
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(list as never);
  };
  return await new CloudStackApi({ list: give, relist: give }).readVm(VM_ID, undefined, signal);
}

function toRefusal(text: string): ApiError {
  return new ApiError({ code: 431, text }, { command: "listVirtualMachines", secrets: [] });
}

function toUnknownEntity(id: string): ApiError {
  return toRefusal(
    `Invalid parameter id value=${id} due to incorrect long value format, or entity does not exist`,
  );
}

describe("readVm()", () => {
  test.each<[string, Partial<ObjectList<Vm>> | Error, VmReading]>([
    ["the VM", { objects: [{ id: VM_ID }] }, { kind: "found", vm: { id: VM_ID } }],
    [
      "every VM, because it ignores the ID",
      { objects: [{ id: OTHER }, { id: VM_ID }] },
      { kind: "found", vm: { id: VM_ID } },
    ],
    ["an empty list", {}, { kind: "empty" }],
    ["error 431 about the ID", toUnknownEntity(VM_ID.toUpperCase()), { kind: "neverKnown" }],
    [
      "a VM that cannot be read",
      { undecodable: new Map([[VM_ID, "nic: must be Array"]]) },
      { kind: "undecodable", problem: "nic: must be Array" },
    ],
  ])("of a server that answers with %s", async (_what, answer, expected) => {
    expect(await read(answer)).toEqual(expected);
  });

  test.each<[string, Partial<ObjectList<Vm>> | Error]>([
    ["error 431 about another object", toUnknownEntity(OTHER)],
    ["error 431 about a parameter", toRefusal("Invalid parameter details")],
    ["a list that is not whole", { gap: "a page is missing" }],
  ])("rejects after %s", async (_what, answer) => {
    await expect(read(answer)).rejects.toMatchObject({ kind: "protocol" });
  });
});

const STICKINESS = [
  {
    methodname: "LbCookie",
    description: "inserts a cookie",
    paramlist: [
      { paramname: "cookie-name", required: false, isflag: false, description: "its name" },
      { paramname: "nocache", required: "false", isflag: "true" },
    ],
  },
  { methodname: "SourceBased" },
];

function toLb(capabilities: Record<string, string | null>): NetworkService {
  const capability = Object.entries(capabilities).map(([name, value]) => ({ name, value }));
  return { name: "Lb", capability };
}

describe("readServices()", () => {
  test("reads what a network offers", () => {
    const lb = toLb({
      SupportedLbAlgorithms: "RoundRobin,leastconn,source",
      SupportedProtocols: "tcp, udp, tcp-proxy",
      SupportedStickinessMethods: JSON.stringify(STICKINESS),
    });
    expect(readServices([lb, { name: "Firewall" }, { name: "Dns" }])).toEqual({
      hasLoadBalancers: true,
      hasFirewall: true,
      hasNetworkAcl: false,
      hasDns: true,
      algorithms: new Set(["roundrobin", "leastconn", "source"]),
      protocols: new Set(["tcp", "udp", "tcp-proxy"]),
      stickiness: [
        {
          name: "LbCookie",
          params: new Map([
            ["cookie-name", { isRequired: false }],
            ["nocache", { isRequired: false }],
          ]),
        },
        { name: "SourceBased", params: new Map() },
      ],
    });
  });

  test.each<[string, NetworkService[]]>([
    ["has no capabilities", [{ name: "lb" }, { name: "NetworkACL", capability: null }]],
    ["says nothing about them", [toLb({}), { name: "NetworkACL" }]],
    [
      "says it in a form that is not known",
      [
        toLb({ SupportedStickinessMethods: "[{", SupportedProtocols: null }),
        { name: "NETWORKACL" },
      ],
    ],
    [
      "has methods without names",
      [toLb({ SupportedStickinessMethods: '[{"name":"x"}]' }), { name: "NetworkACL" }],
    ],
  ])("leaves out what a network does not say: it %s", (_what, services) => {
    const expected = { hasLoadBalancers: true, hasFirewall: false, hasNetworkAcl: true };
    expect(readServices(services)).toEqual({ ...expected, hasDns: false });
  });

  test("a network without services offers nothing", () => {
    const expected = { hasLoadBalancers: false, hasFirewall: false, hasNetworkAcl: false };
    expect(readServices([])).toEqual({ ...expected, hasDns: false });
  });
});

const UUID = "aaaaaaaa-1111-4111-8111-aaaaaaaaaaaa";

/** Reads a field of an object. */
function readField<T>(field: Field<T>, body: object): unknown {
  const decoded = decode(object({ one: field }), body);
  return "value" in decoded ? decoded.value.one : "unreadable";
}

describe("a field", () => {
  test.each<[string, Field<unknown>, unknown, unknown]>([
    ["ID", ID, UUID.toUpperCase(), UUID],
    ["ID", ID, "17", "unreadable"],
    ["REFERENCE", REFERENCE, UUID.toUpperCase(), UUID],
    ["REFERENCE", REFERENCE, "", undefined],
    ["REFERENCE", REFERENCE, null, undefined],
    ["REFERENCE", REFERENCE, 7, "unreadable"],
    ["NAME", NAME, null, ""],
    ["NAME", NAME, "Name", "Name"],
    ["TEXT", TEXT, null, null],
    ["FLAG", FLAG, "true", true],
    ["FLAG", FLAG, "yes", "unreadable"],
    ["WHOLE_NUMBER", WHOLE_NUMBER, "12", 12],
    ["WHOLE_NUMBER", WHOLE_NUMBER, 1.5, "unreadable"],
    ["PORT", PORT, "80", 80],
    ["PORT", PORT, 65_535, 65_535],
    ["PORT", PORT, 65_536, "unreadable"],
    ["PORT", PORT, -1, "unreadable"],
    ["PORT", PORT, "http", "unreadable"],
    ["CIDRS", CIDRS, "", []],
    ["CIDRS", CIDRS, null, []],
    ["CIDRS", CIDRS, "10.1.2.3", ["10.1.2.3/32"]],
    ["CIDRS", CIDRS, "10.0.0.0/8,x", undefined],
    ["CIDRS", CIDRS, ["10.0.0.0/8"], "unreadable"],
  ])("%s: %#", (_name, field, value, expected) => {
    expect(readField(field, { one: value })).toEqual(expected);
  });

  test("that is missing is empty, or unreadable if it must be there", () => {
    const fields = [NAME, REFERENCE, TEXT, CIDRS, ID, PORT, FLAG];
    const found = fields.map((field: Field<unknown>) => readField(field, {}));
    const empty = ["", undefined, undefined, []];
    expect(found).toEqual([...empty, ...Array<string>(3).fill("unreadable")]);
  });
});

test("CIDRS are the same in any order, with any separators, with host bits or without, once or twice", () => {
  const block = tuple(ipV4(), integer({ min: 0, max: 32 })).map(
    ([ip, prefix]) => `${ip}/${prefix}`,
  );
  const separator = constantFrom(" ", ",", ", ", " , ");
  assert(
    property(array(block, { minLength: 1, maxLength: 5 }), separator, (blocks, between) => {
      const canonical = readField(CIDRS, { one: blocks.join(",") });
      const turned = [...blocks.toReversed(), ...blocks].join(between);
      expect(readField(CIDRS, { one: turned })).toEqual(canonical);
      const again = Array.isArray(canonical) ? canonical.join(between) : "";
      expect(readField(CIDRS, { one: again })).toEqual(canonical);
    }),
  );
});

/** As a server sends it; the values are invented. */
const VM = {
  id: UUID,
  name: "node-1",
  displayname: "node-1",
  account: "acme",
  userid: UUID,
  domainid: UUID,
  domain: "ROOT",
  created: "2026-01-02T03:04:05+0000",
  state: "Running",
  haenable: false,
  zoneid: UUID,
  zonename: "zone1",
  serviceofferingid: UUID,
  serviceofferingname: "Small Instance",
  hostname: "hypervisor-7",
  cpunumber: 1,
  publicip: "192.0.2.7",
  nic: [
    {
      id: UUID,
      networkid: UUID,
      networkname: "k8s",
      ipaddress: "10.1.1.62",
      ip6address: "2001:db8::62",
      isdefault: true,
      secondaryip: [],
    },
  ],
  tags: [],
};

describe("SCHEMAS", () => {
  test("a VM keeps what is used, and the name of its hypervisor is not", () => {
    expect(decode(SCHEMAS.vm, VM)).toEqual({
      value: {
        id: UUID,
        name: "node-1",
        displayname: "node-1",
        account: "acme",
        domainid: UUID,
        state: "Running",
        zoneid: UUID,
        zonename: "zone1",
        serviceofferingname: "Small Instance",
        cpunumber: 1,
        publicip: "192.0.2.7",
        nic: [
          {
            networkid: UUID,
            networkname: "k8s",
            ipaddress: "10.1.1.62",
            ip6address: "2001:db8::62",
            isdefault: true,
          },
        ],
      },
    });
  });

  test("a VM whose CPUs and memory cannot be read is a VM all the same", () => {
    const vm = { id: UUID, cpunumber: [], memory: -1.5 };
    expect(decode(SCHEMAS.vm, vm)).toEqual({ value: { id: UUID } });
    expect(decode(SCHEMAS.vm, { id: UUID, cpunumber: "4", memory: "8192" })).toEqual({
      value: { id: UUID, cpunumber: 4, memory: 8_192 },
    });
  });

  test.each(["vm", "project"] as const)("a %s needs nothing except its ID", (kind) => {
    expect(decode<{ readonly id: string }>(SCHEMAS[kind], { id: UUID.toUpperCase() })).toEqual({
      value: { id: UUID },
    });
    for (const body of [{}, { id: "" }, { id: 7 }, { id: UUID.slice(1) }, null, "a"]) {
      expect(decode<{ readonly id: string }>(SCHEMAS[kind], body)).toHaveProperty("problem");
    }
  });

  test.each([
    [{ state: null }, { state: null }],
    [{ nic: null }, { nic: null }],
    [
      { nic: [{ isdefault: "true" }, { isdefault: "false" }] },
      { nic: [{ isdefault: true }, { isdefault: false }] },
    ],
  ])("takes a VM with %j", (more, expected) => {
    expect(decode(SCHEMAS.vm, { id: UUID, ...more })).toEqual({ value: { id: UUID, ...expected } });
  });

  test.each([
    [{ state: 1 }, "state: must be string"],
    [{ nic: {} }, "nic: must be Array"],
    [{ nic: [7] }, "nic.0: must be Object"],
    [{ nic: [{ ipaddress: 7 }] }, "nic.0.ipaddress: must be string"],
  ])("says what is wrong with a VM that has %j", (more, problem) => {
    expect(decode(SCHEMAS.vm, { id: UUID, ...more })).toEqual({ problem });
  });

  test.each([
    [{ jobstatus: 0 }, 0],
    [{ jobstatus: "2", jobresult: "no" }, 2],
  ])("reads the state of a job: %j", (body, jobstatus) => {
    expect(decode(SCHEMAS.job, body)).toMatchObject({ value: { jobstatus } });
  });

  test.each([{}, { jobstatus: "done" }, { jobstatus: 0.5 }, { jobstatus: null }])(
    "a job with %j has no state",
    (body) => expect(decode(SCHEMAS.job, body)).toHaveProperty("problem"),
  );

  test("reads capabilities and success", () => {
    expect(decode(SCHEMAS.capabilities, { cloudstackversion: "4.22.0.0", x: 1 })).toEqual({
      value: { cloudstackversion: "4.22.0.0" },
    });
    expect(decode(SCHEMAS.success, { success: "true" })).toEqual({ value: { success: true } });
    expect(decode(SCHEMAS.success, {})).toHaveProperty("problem");
  });
});
