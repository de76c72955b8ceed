/**
 * Reading objects: only the fields that are used, none required except the identity.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { decode } from "../../../../lib/cloud_http/decode.ts";
import { SCHEMAS } from "../../../../lib/providers/cloudstack/wire/schema.ts";

const ID = "aaaaaaaa-1111-4111-8111-aaaaaaaaaaaa";

/** As a server sends it; the values are invented. */
const VM = {
  id: ID,
  name: "node-1",
  displayname: "node-1",
  account: "acme",
  userid: ID,
  domainid: ID,
  domain: "ROOT",
  created: "2026-01-02T03:04:05+0000",
  state: "Running",
  haenable: false,
  zoneid: ID,
  zonename: "zone1",
  serviceofferingid: ID,
  serviceofferingname: "Small Instance",
  hostname: "hypervisor-7",
  cpunumber: 1,
  publicip: "192.0.2.7",
  nic: [
    {
      id: ID,
      networkid: ID,
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
        id: ID,
        name: "node-1",
        displayname: "node-1",
        account: "acme",
        domainid: ID,
        state: "Running",
        zoneid: ID,
        zonename: "zone1",
        serviceofferingname: "Small Instance",
        publicip: "192.0.2.7",
        nic: [
          {
            networkid: ID,
            networkname: "k8s",
            ipaddress: "10.1.1.62",
            ip6address: "2001:db8::62",
            isdefault: true,
          },
        ],
      },
    });
  });

  test.each(["vm", "project"] as const)("a %s needs nothing except its ID", (kind) => {
    expect(decode<{ readonly id: string }>(SCHEMAS[kind], { id: ID.toUpperCase() })).toEqual({
      value: { id: ID },
    });
    for (const body of [{}, { id: "" }, { id: 7 }, { id: ID.slice(1) }, null, "a"]) {
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
    expect(decode(SCHEMAS.vm, { id: ID, ...more })).toEqual({ value: { id: ID, ...expected } });
  });

  test.each([
    [{ state: 1 }, "state: must be string"],
    [{ nic: {} }, "nic: must be Array"],
    [{ nic: [7] }, "nic.0: must be Object"],
    [{ nic: [{ ipaddress: 7 }] }, "nic.0.ipaddress: must be string"],
  ])("says what is wrong with a VM that has %j", (more, problem) => {
    expect(decode(SCHEMAS.vm, { id: ID, ...more })).toEqual({ problem });
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
