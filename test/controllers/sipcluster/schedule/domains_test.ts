import { describe, expect, test } from "bun:test";
import {
  Domains,
  listTopologyKeys,
} from "../../../../lib/controllers/sipcluster/schedule/domains.ts";
import { toHost, toNodeSet } from "../../../support/sipcluster/scheduling.ts";

const NODES = { ControlPlane: toNodeSet(1, 0, "rack"), Worker: toNodeSet(1, 0, "rack", "server") };
const [A, B, C] = [
  toHost("a", { labels: { rack: "r1", server: "s1" } }),
  toHost("b", { labels: { rack: "r1", server: "s2" } }),
  toHost("c", { labels: { server: "s1" } }),
];

test("listTopologyKeys() joins both fields, without empty and repeated keys", () => {
  expect(listTopologyKeys({ topologyKey: "a", topologyKeys: ["b", "a", ""] })).toEqual(["a", "b"]);
  expect(listTopologyKeys({ topologyKey: "" })).toEqual([]);
  expect(listTopologyKeys(undefined)).toEqual([]);
});

describe("toDemand()", () => {
  test("gives each role domains of its own", () => {
    const domains = new Domains(NODES);
    const [one, other] = [
      domains.toDemand({ host: A, role: "ControlPlane" }),
      domains.toDemand({ host: A, role: "Worker" }),
    ];
    expect(one.alone).toHaveLength(1);
    expect(other.alone).toHaveLength(2);
    expect(other.alone).not.toContain(one.alone[0]);
    expect(other.alone.map((domain) => domains.toKey(domain))).toEqual(["rack", "server"]);
    expect(domains.listScopes("Worker")).not.toContain(domains.listScopes("ControlPlane")[0]);
  });

  test("lets roles share domains if anti-affinity holds between them", () => {
    const domains = new Domains(NODES, { spreadAcrossRoles: true });
    const one = domains.toDemand({ host: A, role: "ControlPlane" });
    const other = domains.toDemand({ host: A, role: "Worker" });
    expect(other.alone).toEqual([...one.alone, ...one.beside]);
    expect(domains.listScopes("Worker")).toEqual(["rack", "server"]);
    expect(domains.listScopes("ControlPlane")).toEqual(["rack"]);
    expect(domains.toDemand({ host: A })).toEqual({ alone: [], beside: other.alone });
  });

  test("has no domain for a label that is missing", () => {
    const domains = new Domains(NODES, { spreadAcrossRoles: true });
    expect(domains.toDemand({ host: C, role: "Worker" }).alone[0]).toBe(-1);
    expect(domains.toDemand({ host: C }).beside).toHaveLength(1);
  });
});

test("listClosed() has the values with which a host cannot join", () => {
  const members = [
    { host: A, role: "ControlPlane" },
    { host: C, role: "Worker" },
  ] as const;
  const list = (spreadAcrossRoles: boolean, role: "ControlPlane" | "Worker") =>
    [...new Domains(NODES, { spreadAcrossRoles }).listClosed(role, members)].flatMap(
      ([key, values]) => [...values].map((value) => `${key}=${value}`),
    );
  expect(list(false, "ControlPlane")).toEqual(["rack=r1"]);
  expect(list(false, "Worker")).toEqual(["server=s1"]);
  // A control plane may not join a worker's server: the worker must be alone there.
  expect(list(true, "ControlPlane")).toEqual(["rack=r1", "server=s1"]);
  expect(list(true, "Worker")).toEqual(["rack=r1", "server=s1"]);
});

test("listKeys() has the numbers of the keys that count for a role", () => {
  expect(new Domains(NODES).listKeys("ControlPlane")).toEqual([0]);
  expect(new Domains(NODES, { spreadAcrossRoles: true }).listKeys("ControlPlane")).toEqual([0, 1]);
});

test("numberValue() is the same for the same value of a key, and -1 without the label", () => {
  const domains = new Domains(NODES);
  const [rack, server] = [0, 1];
  expect(domains.numberValue(rack, A)).toBe(domains.numberValue(rack, B));
  expect(domains.numberValue(server, A)).not.toBe(domains.numberValue(server, B));
  expect(domains.numberValue(server, A)).toBe(domains.numberValue(server, C));
  expect(domains.numberValue(server, A)).not.toBe(domains.numberValue(rack, A));
  expect(domains.numberValue(rack, C)).toBe(-1);
});

describe("listBreaches()", () => {
  test("names hosts of one role with the same value", () => {
    const members = [
      { host: B, role: "Worker" },
      { host: A, role: "Worker" },
      { host: C, role: "Worker" },
    ] as const;
    expect(new Domains(NODES).listBreaches(members)).toEqual([
      { topologyKey: "rack", value: "r1", hosts: ["metal/a", "metal/b"] },
      { topologyKey: "server", value: "s1", hosts: ["metal/a", "metal/c"] },
    ]);
  });

  test("names hosts of several roles only if anti-affinity holds between them", () => {
    const members = [
      { host: A, role: "ControlPlane" },
      { host: B, role: "Worker" },
      { host: C },
    ] as const;
    expect(new Domains(NODES).listBreaches(members)).toEqual([]);
    const breaches = new Domains(NODES, { spreadAcrossRoles: true }).listBreaches(members);
    expect(breaches).toEqual([{ topologyKey: "rack", value: "r1", hosts: ["metal/a", "metal/b"] }]);
  });
});
