import { expect, test } from "bun:test";
import { toIngress } from "../../../../../lib/providers/cloudstack/load_balancers/plan/status.ts";
import { toWanted } from "../../../../../lib/providers/cloudstack/load_balancers/wanted/wanted.ts";
import { annotate, HTTP, toSpec } from "../cloud/services.ts";

const UDP = { protocol: "UDP", port: 53, nodePort: 30_053 } as const;
const CASES: readonly [string, Record<string, string>, object][] = [
  ["the IP", {}, { ip: "192.0.2.1", ipMode: "VIP" }],
  ["the mode of a proxy", { "proxy-protocol": "true" }, { ip: "192.0.2.1", ipMode: "Proxy" }],
  [
    "the hostname alone",
    { hostname: "a.example", "proxy-protocol": "true" },
    { hostname: "a.example" },
  ],
];
for (const [what, values, entry] of CASES) {
  test(`toIngress() shows ${what}`, () => {
    const { wanted } = toWanted(toSpec({ ports: [UDP, HTTP], annotations: annotate(values) }));
    if (wanted === undefined) throw new Error("not wanted");
    expect(toIngress(wanted, "192.0.2.1")).toEqual([JSON.parse(JSON.stringify(entry))]);
  });
}
