/**
 * Reading replies: only the fields that are used, each object by itself.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { decode, decodeList } from "../../../../lib/cloud_http/decode.ts";
import { SCHEMAS } from "../../../../lib/providers/xenorchestra/wire/schema.ts";
import { loadCapture } from "../fake_server.ts";

const ID_A = "aaaaaaaa-1111-4111-8111-aaaaaaaaaaaa";
const ID_P = "cccccccc-1111-4111-8111-cccccccccccc";

describe("decode()", () => {
  test("needs nothing but the identity", () => {
    expect(
      decode(SCHEMAS.vm, {
        id: ID_A.toUpperCase(),
        $pool: ID_P.toUpperCase(),
        power_state: null,
        more: 1,
      }),
    ).toEqual({
      value: { id: ID_A, $pool: ID_P, power_state: null },
    });
  });

  test.each([
    ["absent", {}, {}],
    ["null", { current_operations: null }, { current_operations: null }],
    ["a map", { current_operations: { t: "start" } }, { current_operations: { t: "start" } }],
    ["text", { current_operations: "migrate_send" }, { current_operations: null }],
    ["a number", { current_operations: 7 }, { current_operations: null }],
    [
      "a map of anything",
      { current_operations: { a: "pool_migrate", b: 3, c: { d: 1 } } },
      { current_operations: { a: "pool_migrate", b: 3, c: { d: 1 } } },
    ],
  ])("takes a VM whose operations are %s", (_title, more, expected) => {
    expect(decode(SCHEMAS.vm, { id: ID_A, $pool: ID_P, ...more })).toEqual({
      value: { id: ID_A, $pool: ID_P, ...expected },
    });
  });

  test.each([
    ["no ID", { $pool: ID_P }],
    ["an empty ID", { id: "", $pool: ID_P }],
    ["half an ID", { id: ID_A.slice(0, 20), $pool: ID_P }],
    ["no pool", { id: ID_A }],
    ["no ID for its pool", { id: ID_A, $pool: "undefined" }],
    ["no ID for its host", { id: ID_A, $pool: ID_P, $container: "[object Object]" }],
    ["CPUs of another type", { id: ID_A, $pool: ID_P, CPUs: "4" }],
    ["addresses of another type", { id: ID_A, $pool: ID_P, addresses: { "0/ipv4/0": 1 } }],
    ["no object", "a"],
    ["nothing", null],
  ])("tells what is wrong with a VM that has %s", (_title, body) => {
    expect(decode(SCHEMAS.vm, body)).toEqual({ problem: expect.stringContaining("must be") });
  });
});

describe("decodeList()", () => {
  test.each([
    ["vms-ccm-fields", SCHEMAS.vm, 17],
    ["hosts-all-fields", SCHEMAS.host, 5],
    ["pools-all-fields", SCHEMAS.pool, 2],
    ["networks-all-fields", SCHEMAS.network, 6],
    ["vm-controllers-all-fields", SCHEMAS.poolMember, 5],
    ["servers-all-fields", SCHEMAS.server, 2],
    ["pooldown-servers", SCHEMAS.server, 2],
  ] as const)("reads the whole capture %s", (name, schema, count) => {
    const { body } = loadCapture(name);
    const list = decodeList<{ readonly id: string }>(schema, Array.isArray(body) ? body : []);
    expect(list.undecodable.size).toBe(0);
    expect(list.objects).toHaveLength(count);
  });

  test("reads the VIFs of the captures", () => {
    const { body } = loadCapture("vifs-all-fields");
    const list = decodeList(SCHEMAS.vif, Array.isArray(body) ? body : []);
    expect(list.undecodable.size).toBe(0);
    expect(list.objects[0]?.device).toBeDefined();
  });
});
