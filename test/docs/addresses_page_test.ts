/**
 * The tables of docs/explanation/addresses.md, line by line, against the program.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { hasAddresses, planAddresses } from "../../lib/controllers/addresses.ts";
import { isGloballyRoutable } from "../../lib/core/net/ip.ts";
import { toInstance } from "../../lib/providers/xenorchestra/inventory.ts";
import type { Node } from "../../lib/kube/kinds/node.ts";
import { toNode } from "../support/nodes/nodes.ts";
import { readSource } from "../support/sources.ts";

const PAGE = await readSource("docs/explanation/addresses.md");
const LINE = /^\| (eth0 .+?|no report) +\| (\S+) +\| (.+?) +\| (.+?) +\|$/gm;
const LINES = [...PAGE.matchAll(LINE)].map(
  ([, vm = "", nodeIp = "", plain = "", withMain = ""]) => [vm, nodeIp, plain, withMain] as const,
);
const SURROUNDINGS = { pools: new Map(), hosts: new Map() };
const WORDS: Readonly<Record<string, string>> = { InternalIP: "in", ExternalIP: "ex" };

/** `eth0 10.0.0.5 fd00::5, eth1 10.1.0.5` as guest tools report it. */
function toReport(vm: string): Record<string, string> {
  const report: Record<string, string> = {};
  for (const [, device = "", ips = ""] of vm.matchAll(/eth(\d) ([^,]+)/g)) {
    for (const [at, ip] of ips.split(" ").entries()) {
      report[`${device}/ipv${ip.includes(":") ? 6 : 4}/${at}`] = ip;
    }
  }
  return report;
}

/** What a Node that has `before` should get; its own list once more when it is to stay. */
function plan(vm: string, nodeIp: string, mainIpAsExternal: boolean, before?: Node): string {
  const addresses = toReport(vm);
  const all = Object.values(addresses);
  const mainIpAddress = all.find((ip) => !ip.includes(":")) ?? all[0];
  const record = { id: "vm", $pool: "pool", power_state: "Running", addresses, mainIpAddress };
  const instance = toInstance(record, SURROUNDINGS, {
    addresses: { exclude: [], externalCidrs: [], mainIpAsExternal },
    zoneLabelFrom: { kind: "host" },
  });
  const node = before ?? toFreshNode(nodeIp);
  const result = planAddresses(node, instance, "trusted");
  if (result.kind !== "wanted") return result.kind === "keep" ? "no change" : result.kind;
  expect(result.addresses.at(-1)).toEqual({ type: "Hostname", address: "n" });
  if (before) expect(hasAddresses(before, result.addresses)).toBe(true);
  else {
    const pairs = result.addresses.map(({ type, address }) => [type, address] as const);
    plan(vm, nodeIp, mainIpAsExternal, toFreshNode(nodeIp, pairs));
  }
  const shown = result.addresses.slice(0, -1);
  return shown.map(({ type, address }) => `${WORDS[type] ?? type} ${address}`).join(", ");
}

function toFreshNode(nodeIp: string, addresses?: (readonly [string, string])[]): Node {
  return toNode("n", {
    ...(nodeIp === "none" ? {} : { nodeIp }),
    ...(addresses && { addresses }),
  });
}

describe("docs/explanation/addresses.md", () => {
  test.each(LINES)("%s with the node IP %s", (vm, nodeIp, plain, withMain) => {
    expect(plan(vm, nodeIp, false)).toBe(plain);
    expect(plan(vm, nodeIp, true)).toBe(withMain);
  });

  test("has a line for every combination of families, interfaces and node IPs, each once", () => {
    const kinds = new Set(LINES.map(([vm, nodeIp]) => toKind(vm, nodeIp)));
    const wanted = ["4", "6", "46"].flatMap((families) =>
      ["private", "public"].flatMap((eth0) =>
        [[eth0], [eth0, "private"], [eth0, "public"]].flatMap((nics) =>
          ["none", ...nics.map((_, at) => `eth${at}`)].map(
            (nodeIp) => `${nics.map((kind) => kind + families).join(" ")}, ${nodeIp}`,
          ),
        ),
      ),
    );
    expect(wanted).toHaveLength(48);
    expect(wanted.filter((kind) => !kinds.has(kind))).toEqual([]);
    const keys = LINES.map(([vm, nodeIp]) => `${vm} ${nodeIp}`);
    expect(keys).toHaveLength(new Set(keys).size);
  });
});

/** `private46 public46, eth1`: the kinds of the interfaces, and the one that has all node IPs and no more. */
function toKind(vm: string, nodeIp: string): string {
  const nics = [...vm.matchAll(/eth\d ([^,]+)/g)].map(([, ips = ""]) => ips.split(" "));
  const named = nics.findIndex((ips) => ips.join(",") === nodeIp);
  const kinds = nics.map((ips) => {
    const reach = new Set(ips.map((ip) => (isGloballyRoutable(ip) ? "public" : "private")));
    return [...reach].join("+") + ips.map((ip) => (ip.includes(":") ? "6" : "4")).join("");
  });
  return `${kinds.join(" ")}, ${named < 0 ? nodeIp : `eth${named}`}`;
}
