import { describe, expect, test } from "bun:test";
import {
  formatHosts,
  formatKnownHosts,
  formatSshConfig,
  toHosts,
} from "../../../../../lib/controllers/sipcluster/services/jump_host/content.ts";
import type { Machine } from "../../../../../lib/controllers/sipcluster/services/types.ts";

function toMachine(key: string, addresses: Readonly<Record<string, string>> = {}): Machine {
  const [namespace = "", name = ""] = key.split("/");
  const more = { role: "Worker", standby: false } as const;
  return { namespace, name, ...more, addresses: new Map(Object.entries(addresses)) };
}

describe("toHosts()", () => {
  test("takes the address on the network of the jump host", () => {
    const machine = toMachine("a/node", { oam: "10.0.0.1", pxe: "10.9.0.1" });
    expect(toHosts([machine], "oam")).toEqual([{ name: "node", machine, address: "10.0.0.1" }]);
  });

  test("keeps a machine without an address there, or with a text that is none", () => {
    const machines = [
      toMachine("a/one", { pxe: "10.9.0.1" }),
      toMachine("a/two", { oam: "10.0.0.1\nHost *" }),
    ];
    expect(toHosts(machines, "oam").map((host) => Object.keys(host))).toEqual([
      ["name", "machine"],
      ["name", "machine"],
    ]);
  });

  test("names machines of one name with their namespaces", () => {
    const machines = [toMachine("a/node"), toMachine("a/other"), toMachine("b/node")];
    expect(toHosts(machines, "oam").map(({ name }) => name)).toEqual(["node.a", "other", "node.b"]);
  });
});

test("formatHosts() writes JSON, one machine a line", () => {
  const text = formatHosts(
    toHosts([toMachine("a/one", { oam: "fd00::1" }), toMachine("a/two")], "oam"),
  );
  expect(text.split("\n")).toHaveLength(5);
  const more = { role: "Worker", standby: false } as const;
  expect(JSON.parse(text)).toEqual([
    { name: "one", namespace: "a", bareMetalHost: "one", ...more, address: "fd00::1" },
    { name: "two", namespace: "a", bareMetalHost: "two", ...more },
  ]);
  expect(JSON.parse(formatHosts([]))).toEqual([]);
});

test("formatSshConfig() writes a block for each machine with an address, and one for all", () => {
  const text = formatSshConfig(
    toHosts([toMachine("a/one", { oam: "fd00::1" }), toMachine("a/two")], "oam"),
  );
  expect(text).toStartWith("Host one\n  HostName fd00::1\nHost *\n");
  expect(text).not.toContain("two");
});

test("formatKnownHosts() writes a line for no name that a server has by itself", () => {
  const line = formatKnownHosts("jumphost-a.tenant", "ssh-ed25519 AAAA");
  expect(line).toBe("jumphost-a.tenant ssh-ed25519 AAAA\n");
  expect(line).not.toMatch(/[*?[\]]/);
});
