import { describe, expect, test } from "bun:test";
import { parseConfig, SETTINGS } from "../../../lib/providers/static/settings.ts";

const entry = { id: "a", name: "a" };

describe("parseConfig()", () => {
  test("asks for a file when there is none", () => {
    for (const raw of [undefined, null]) {
      const { settings, issues } = parseConfig(raw);
      expect(settings).toBeUndefined();
      expect(issues[0]?.message).toContain("--cloud-config");
    }
  });

  test("gives no settings with issues", () => {
    expect(parseConfig({})).toMatchObject({
      issues: [{ path: "instances", message: "required" }],
      warnings: [],
    });
  });

  test("fills in what is not written", () => {
    expect(parseConfig({ instances: [entry] }).settings).toEqual({
      scheme: "static",
      refreshInterval: 10_000,
      instances: [{ ...entry, state: "running", addresses: [], labels: {} }],
    });
  });

  test("lower-cases system UUIDs", () => {
    const { settings: file } = parseConfig({ instances: [{ ...entry, systemUUID: " AB-1 " }] });
    expect(file?.instances[0]?.systemUUID).toBe("ab-1");
  });

  const wrong: [string, unknown, string[]][] = [
    ["no list", {}, ["instances"]],
    ["not even a mapping", [], ["instances"]],
    ["a missing ID and name", { instances: [{}] }, ["instances.0.id", "instances.0.name"]],
    ["a number as ID", { instances: [{ id: 5, name: "a" }] }, ["instances.0.id"]],
    ["an ID with a slash", { instances: [{ id: "a/b", name: "a" }] }, ["instances.0.id"]],
    ["an unknown state", { instances: [{ ...entry, state: "off" }] }, ["instances.0.state"]],
    ["a type that is no label", { instances: [{ ...entry, type: "a b" }] }, ["instances.0.type"]],
    [
      "a name as an IP",
      { instances: [{ ...entry, addresses: [{ type: "InternalIP", address: "x" }] }] },
      ["instances.0.addresses.0.address"],
    ],
    [
      "no host name",
      { instances: [{ ...entry, addresses: [{ type: "Hostname", address: "a b" }] }] },
      ["instances.0.addresses.0.address"],
    ],
    [
      "a label key",
      { instances: [{ ...entry, labels: { "-x": "1" } }] },
      ["instances.0.labels.-x"],
    ],
    [
      "a label value",
      { instances: [{ ...entry, labels: { x: "a b", y: "ok" } }] },
      ["instances.0.labels.x"],
    ],
    ["a label number", { instances: [{ ...entry, labels: { x: 1 } }] }, ["instances.0.labels.x"]],
    ["an ID that ends with a dash", { instances: [{ id: "a-", name: "a" }] }, ["instances.0.id"]],
    ["a scheme", { scheme: "A b", instances: [] }, ["scheme"]],
    ["a scheme with a colon", { scheme: "a:b", instances: [] }, ["scheme"]],
    ["an interval", { refreshInterval: "10", instances: [] }, ["refreshInterval"]],
    ["too short an interval", { refreshInterval: "10ms", instances: [] }, ["refreshInterval"]],
    ["a repeated ID", { instances: [entry, { ...entry, name: "b" }] }, ["instances.1.id"]],
    [
      "a repeated UUID",
      {
        instances: [
          { ...entry, systemUUID: "A" },
          { id: "b", name: "b", systemUUID: "a" },
        ],
      },
      ["instances.1.systemUUID"],
    ],
    [
      "everything at once",
      { zone: "-", instances: [{ ...entry, state: 1 }, entry] },
      ["zone", "instances.0.state", "instances.1.id"],
    ],
  ];
  test.each(wrong)("names %s", (_, raw, paths) => {
    const { settings: file, issues } = parseConfig(raw);
    expect(file).toBeUndefined();
    expect(issues.map(({ path }) => path)).toEqual(paths);
  });
});

test.each([30, "30", ""])("parseConfig() says of refreshInterval: %j what will do", (written) => {
  const found = written === "" ? "empty" : JSON.stringify(written);
  const message = `must be a duration from 1s to 1h, for example "30s", but is ${found}`;
  const { issues } = parseConfig({ refreshInterval: written, instances: [] });
  expect(issues).toEqual([{ path: "refreshInterval", message }]);
});

test.each<[object, string, string]>([
  [
    { state: "stoped" },
    "state",
    'running, stopped or deleted, but is "stoped"; did you mean stopped?',
  ],
  [{ state: "off" }, "state", "running, stopped or deleted"],
  [
    { addresses: [{ type: "internalip", address: "10.0.0.7" }] },
    "addresses.0.type",
    'InternalIP, ExternalIP, Hostname, InternalDNS or ExternalDNS, but is "internalip"; did you mean InternalIP?',
  ],
  [
    { addresses: [{ type: "InternalIP", address: "10.0.0.700" }] },
    "addresses.0.address",
    'an IP address, but is "10.0.0.700"',
  ],
  [
    { id: "a".repeat(254) },
    "id",
    'at most 253 letters, digits, ".", "_" or "-", with a letter or digit at both ends',
  ],
])("parseConfig() of %j says what is allowed, and what was meant", (fields, path, what) => {
  const { issues } = parseConfig({ instances: [{ ...entry, ...fields }] });
  expect(issues).toEqual([{ path: `instances.0.${path}`, message: `must be ${what}` }]);
});

test("SETTINGS describes every key once, with its form", () => {
  const forms = Object.fromEntries(SETTINGS.map(({ path, form }) => [path, form]));
  expect(Object.keys(forms)).toHaveLength(SETTINGS.length);
  expect(forms).toMatchObject({
    refreshInterval: "string",
    instances: "array",
    "instances.state": "string",
    "instances.addresses": "array",
    "instances.addresses.type": "string",
    "instances.labels": "object",
  });
});
