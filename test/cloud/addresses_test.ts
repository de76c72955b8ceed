import { describe, expect, test } from "bun:test";
import { chooseAddresses, toInstanceAddresses } from "../../lib/cloud/addresses.ts";
import { parseIp } from "../../lib/core/net/ip.ts";

/** Chooses among addresses, of which some are declared external. */
function choose(texts: readonly string[], declared: readonly string[] = []) {
  const found = texts.flatMap((text) => parseIp(text) ?? []);
  return chooseAddresses(found, ({ text }) => declared.includes(text));
}

describe("chooseAddresses()", () => {
  test.each([
    ["the first of a family is internal", ["10.0.0.2", "10.0.0.1"], [], ["10.0.0.2"], []],
    ["IPv4 comes before IPv6", ["fd00::1", "10.0.0.1"], [], ["10.0.0.1", "fd00::1"], []],
    ["a routable one is external", ["8.8.0.5", "10.0.0.1"], [], ["10.0.0.1"], ["8.8.0.5"]],
    [
      "a routable one without another is both",
      ["8.8.0.5", "8.8.0.6"],
      [],
      ["8.8.0.5"],
      ["8.8.0.5", "8.8.0.6"],
    ],
    ["a declared one is never internal", ["10.0.0.1"], ["10.0.0.1"], [], ["10.0.0.1"]],
    ["each is named once", ["8.8.0.5", "8.8.0.5", "10.0.0.1"], [], ["10.0.0.1"], ["8.8.0.5"]],
  ])("chooseAddresses(): %s", (_title, texts, declared, internal, external) => {
    expect(choose(texts, declared)).toEqual({ internal, external });
  });
});

describe("toInstanceAddresses()", () => {
  test("shows an address with one type, and keeps what is external beside the kubelet's", () => {
    expect(toInstanceAddresses(choose(["8.8.0.5", "8.8.0.6"]))).toEqual({
      addresses: [
        { type: "InternalIP", address: "8.8.0.5" },
        { type: "ExternalIP", address: "8.8.0.6" },
      ],
      addressesWithNodeIp: { externalIps: ["8.8.0.5", "8.8.0.6"], repeatsNodeIps: false },
    });
  });

  test("says nothing of what is external beside the kubelet's where the list has it all", () => {
    expect(toInstanceAddresses(choose(["10.0.0.1", "8.8.0.6"]))).toEqual({
      addresses: [
        { type: "InternalIP", address: "10.0.0.1" },
        { type: "ExternalIP", address: "8.8.0.6" },
      ],
    });
  });
});
