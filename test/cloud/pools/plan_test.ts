import { describe, expect, test } from "bun:test";
import { Allocations } from "../../../lib/cloud/pools/allocations.ts";
import { planAddresses, planHeld } from "../../../lib/cloud/pools/plan.ts";
import { PoolMap } from "../../../lib/cloud/pools/pool.ts";
import { toSettings, toSpec } from "../../support/pools/services.ts";

const { pools } = toSettings({ name: "a", addresses: ["192.0.2.10", "2001:db8::10"] });
const DUAL = { ipFamilies: ["IPv4", "IPv6"], ipFamilyPolicy: "RequireDualStack" } as const;

function createView(announce: "kubeVip" | "none" = "none"): Parameters<typeof planAddresses>[0] {
  return { allocations: new Allocations(new PoolMap(pools)), announce, takenAtMs: 0 };
}

describe("planAddresses()", () => {
  test("changes nothing that it reads, and gives the same plan again", () => {
    const [view, spec] = [createView(), Object.freeze(toSpec("shop", DUAL))];
    expect(planAddresses(view, spec)).toEqual(planAddresses(view, spec));
  });

  test("shows what is there beside what should be", () => {
    const spec = toSpec("shop", {
      ...DUAL,
      ingress: [{ ip: "198.51.100.1" }, { ip: "192.0.2.10" }],
    });
    const { parts } = planAddresses(createView(), { ...spec, address: "192.0.2.10" });
    expect(parts).toEqual([
      { kind: "address", name: "IPv4", wanted: "192.0.2.10", actual: "198.51.100.1, 192.0.2.10" },
      { kind: "pool", name: "IPv4", wanted: "a", actual: "none, a" },
      { kind: "address", name: "IPv6", wanted: "2001:db8::10" },
      { kind: "pool", name: "IPv6", wanted: "a" },
    ]);
  });

  test("shows an address that it cannot have as wanted, and does not guess an invalid wish", () => {
    const spec = toSpec("shop", { ...DUAL, ingress: [{ ip: "192.0.2.10" }] });
    const asked = planAddresses(createView(), { ...spec, address: "203.0.113.9" });
    expect(asked.parts.slice(0, 2)).toEqual([
      { kind: "address", name: "IPv4", wanted: "203.0.113.9", actual: "192.0.2.10" },
      { kind: "pool", name: "IPv4", wanted: "none", actual: "a" },
    ]);
    const invalid = planAddresses(createView(), { ...spec, address: "no address" });
    expect(invalid.problems).toHaveLength(1);
    expect(invalid.parts).toEqual([
      { kind: "address", name: "IPv4", actual: "192.0.2.10", isUndecided: true },
      { kind: "pool", name: "IPv4", actual: "a", isUndecided: true },
    ]);
  });
});

describe("planHeld()", () => {
  const KEY = "kube-vip.io/loadbalancerIPs";
  test.each([
    ["removes an address that it was not given", "192.0.2.10", {}, undefined],
    ["puts back what it shows", "192.0.2.10", { ingress: [{ ip: "192.0.2.77" }] }, "192.0.2.77"],
    ["reads a list", "x, 2001:db8::10", {}, undefined],
  ])("%s", (_title, text, fields, expected) => {
    const claim = toSpec("shop", { annotations: { [KEY]: text }, ...fields });
    expect(planHeld(createView("kubeVip"), claim)).toEqual({ annotations: { [KEY]: expected } });
    expect(planHeld(createView(), claim)).toEqual({});
  });

  test.each(["", "0.0.0.0", "x"])("leaves %j alone: it is no address", (text) => {
    const claim = toSpec("shop", { annotations: { [KEY]: text } });
    expect(planHeld(createView("kubeVip"), claim)).toEqual({});
  });
});
