import { describe, expect, test } from "bun:test";
import { listServers } from "../../../../../lib/controllers/sipcluster/services/load_balancer/servers.ts";
import { machine } from "../../../../support/sipcluster/machines.ts";

describe("listServers()", () => {
  test("lists the hosts of the role by name, standby hosts among them", () => {
    const machines = [
      machine("node-c", "10.0.0.3"),
      machine("node-a", "10.0.0.1", { standby: true }),
      machine("node-b", "10.0.0.2", { role: "Worker" }),
      machine("node-d", "10.0.0.4"),
    ];
    expect(listServers(machines, "ControlPlane", "oam")).toEqual([
      { name: "node-a", address: "10.0.0.1" },
      { name: "node-c", address: "10.0.0.3" },
      { name: "node-d", address: "10.0.0.4" },
    ]);
    expect(listServers(machines.toReversed(), "ControlPlane", "oam")).toEqual(
      listServers(machines, "ControlPlane", "oam"),
    );
  });

  test("gives addresses in canonical form", () => {
    const machines = [machine("a", "2001:DB8:0::1"), machine("b", "::ffff:10.0.0.2")];
    expect(listServers(machines, "ControlPlane", "oam").map(({ address }) => address)).toEqual([
      "2001:db8::1",
      "10.0.0.2",
    ]);
  });

  const without: readonly (readonly [what: string, address: string])[] = [
    ["no address", ""],
    ["a name instead of an address", "node-a.example.org"],
    ["an address with a prefix length", "10.0.0.1/24"],
    ["more than an address", "10.0.0.1:22\n  server x 10.0.0.2"],
  ];
  for (const [what, address] of without) {
    test(`leaves out a host with ${what}`, () => {
      const machines = [machine("bad", address), machine("good", "10.0.0.9")];
      expect(listServers(machines, "ControlPlane", "oam")).toEqual([
        { name: "good", address: "10.0.0.9" },
      ]);
    });
  }

  test("leaves out hosts without an address in this network, and all if no network is named", () => {
    const machines = [machine("a", "10.0.0.1")];
    expect(listServers(machines, "ControlPlane", "pxe")).toEqual([]);
    expect(listServers(machines, "ControlPlane", undefined)).toEqual([]);
  });

  test("tells hosts of the same name in two namespaces apart", () => {
    const machines = [
      machine("a", "10.0.0.1", { namespace: "east" }),
      machine("a", "10.0.0.2", { namespace: "west" }),
      machine("b", "10.0.0.3", { namespace: "west" }),
      // It is not a server, so it does not change the name of another one.
      machine("b", "", { namespace: "east" }),
    ];
    expect(listServers(machines, "ControlPlane", "oam").map(({ name }) => name)).toEqual([
      "b",
      "east_a",
      "west_a",
    ]);
  });
});
