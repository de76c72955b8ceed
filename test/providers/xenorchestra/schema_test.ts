/**
 * Reading replies: only the fields that are used, each object by itself.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { decode, decodeList, SCHEMAS } from "../../../lib/providers/xenorchestra/schema.ts";
import { loadCapture } from "./fake_server.ts";

describe("decode()", () => {
  test("needs nothing but the identity", () => {
    expect(decode(SCHEMAS.vm, { id: "A-1", $pool: "P-1", power_state: null, more: 1 })).toEqual({
      value: { id: "a-1", $pool: "p-1", power_state: null },
    });
  });

  test.each([
    ["absent", {}, {}],
    ["null", { current_operations: null }, { current_operations: null }],
    ["a map", { current_operations: { t: "start" } }, { current_operations: { t: "start" } }],
    ["text", { current_operations: "migrate_send" }, { current_operations: {} }],
    ["a number", { current_operations: 7 }, { current_operations: {} }],
    [
      "a map of anything",
      { current_operations: { a: "pool_migrate", b: 3, c: { d: 1 } } },
      { current_operations: { a: "pool_migrate", b: 3, c: { d: 1 } } },
    ],
  ])("takes a VM whose operations are %s", (_title, more, expected) => {
    expect(decode(SCHEMAS.vm, { id: "a", $pool: "p", ...more })).toEqual({
      value: { id: "a", $pool: "p", ...expected },
    });
  });

  test.each([
    ["no ID", { $pool: "p" }],
    ["an empty ID", { id: "", $pool: "p" }],
    ["no pool", { id: "a" }],
    ["CPUs of another type", { id: "a", $pool: "p", CPUs: "4" }],
    ["addresses of another type", { id: "a", $pool: "p", addresses: { "0/ipv4/0": 1 } }],
    ["no object", "a"],
    ["nothing", null],
  ])("tells what is wrong with a VM that has %s", (_title, body) => {
    expect(decode(SCHEMAS.vm, body)).toEqual({ problem: expect.stringContaining("wanted") });
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
    const list = decodeList<unknown>(schema, Array.isArray(body) ? body : []);
    expect(list.undecodable.size).toBe(0);
    expect(list.objects).toHaveLength(count);
  });

  test("reads the VIFs of the captures", () => {
    const { body } = loadCapture("vifs-all-fields");
    const list = decodeList(SCHEMAS.vif, Array.isArray(body) ? body : []);
    expect(list.undecodable.size).toBe(0);
    expect(list.objects[0]?.device).toBeDefined();
  });

  test("sets apart what cannot be read, by id, href or place", () => {
    const { objects, undecodable } = decodeList(SCHEMAS.pool, [
      { id: "ok" },
      { id: "B", master: 1 },
      { href: "/rest/v0/pools/c" },
      null,
    ]);
    expect(objects).toEqual([{ id: "ok" }]);
    expect([...undecodable.keys()]).toEqual(["b", "c", "#3"]);
  });
});
