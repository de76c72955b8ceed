import { describe, expect, test } from "bun:test";
import {
  formatSshConfig,
  toHosts,
} from "../../../../../lib/controllers/sipcluster/services/jump_host/content.ts";
import type { Machine } from "../../../../../lib/controllers/sipcluster/services/types.ts";

function toMachine(key: string, addresses: Readonly<Record<string, string>> = {}): Machine {
  const [namespace = "", name = ""] = key.split("/");
  const more = { role: "Worker", standby: false } as const;
  return { uid: key, namespace, name, ...more, addresses: new Map(Object.entries(addresses)) };
}

describe("toHosts()", () => {
  test("names machines of other namespaces with their namespace: they may claim no name here", () => {
    const machines = ["home/one", "evil/one", "evil/registry.example.org"].map((key) =>
      toMachine(key),
    );
    const names = toHosts(machines, "home", "oam").map(({ name }) => name);
    expect(names).toEqual(["one", "one.evil", "registry.example.org.evil"]);
  });

  test("keeps a machine without an address there, or with a text that is none", () => {
    const machines = [
      toMachine("a/one", { pxe: "10.9.0.1" }),
      toMachine("a/two", { oam: "10.0.0.1\nHost *" }),
    ];
    expect(toHosts(machines, "a", "oam").map((host) => Object.keys(host))).toEqual([
      ["name", "machine"],
      ["name", "machine"],
    ]);
  });
});

test("formatSshConfig() writes a block for each machine with an address, and one for all", () => {
  const text = formatSshConfig(
    toHosts([toMachine("a/one", { oam: "fd00::1" }), toMachine("a/two")], "a", "oam"),
  );
  expect(text).toStartWith("Host one\n  HostName fd00::1\nHost *\n");
  expect(text).not.toContain("two");
});
