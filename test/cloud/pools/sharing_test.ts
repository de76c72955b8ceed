import { describe, expect, test } from "bun:test";
import { type Hold, Allocations } from "../../../lib/cloud/pools/allocations.ts";
import { PoolMap } from "../../../lib/cloud/pools/pool.ts";
import { isBeforeRivals, isShown, isSurer, listRivals } from "../../../lib/cloud/pools/sharing.ts";
import { toSettings, toSpec } from "../../support/pools/services.ts";

const SHARED = "landfall.dev/shared-address";
const ADDRESS = "192.0.2.10";
const WEB = toSpec("web", {
  ingress: [{ ip: ADDRESS }],
  annotations: { [SHARED]: "k" },
  ports: [
    { protocol: "TCP", port: 80 },
    { protocol: "TCP", port: 443 },
  ],
});

function createAllocations(shareable: boolean): Allocations {
  const { pools } = toSettings({ name: "a", addresses: [ADDRESS], shareable });
  const allocations = new Allocations(new PoolMap(pools));
  allocations.sync([WEB]);
  return allocations;
}

describe("listRivals()", () => {
  const { ports: _unknown, ...withoutPorts } = toSpec("x", { annotations: { [SHARED]: "k" } });
  const cases: readonly [string, Parameters<typeof listRivals>[2], boolean, number][] = [
    ["itself", WEB, true, 0],
    [
      "a pool that is not shareable",
      toSpec("x", { annotations: { [SHARED]: "k" }, ports: [{ protocol: "TCP", port: 81 }] }),
      false,
      1,
    ],
    [
      "one port that is the same",
      toSpec("x", {
        annotations: { [SHARED]: "k" },
        ports: [
          { protocol: "TCP", port: 81 },
          { protocol: "TCP", port: 443 },
        ],
      }),
      true,
      1,
    ],
    ["ports that nobody can read", withoutPorts, true, 1],
  ];
  test.each(cases)("with %s", (_title, claim, shareable, count) => {
    expect(listRivals(createAllocations(shareable), ADDRESS, claim)).toHaveLength(count);
  });

  test("is in the order of the names", () => {
    const allocations = createAllocations(true);
    const names = ["b", "a"].map((name) => toSpec(name, { ingress: [{ ip: ADDRESS }] }));
    allocations.sync([WEB, ...names]);
    const rivals = listRivals(allocations, ADDRESS, toSpec("x"));
    expect(rivals.map(({ claim }) => claim.owner.name)).toEqual(["a", "b", "web"]);
  });
});

describe("isBeforeRivals()", () => {
  const cases: readonly [Hold, Hold, string, boolean][] = [
    ["shown", "reserved", "a", true],
    ["shown", "shown", "a", false],
    ["shown", "shown", "z", false],
    ["reserved", "recorded", "z", true],
    ["reserved", "reserved", "a", false],
    ["recorded", "shown", "a", false],
    ["recorded", "recorded", "a", true],
    ["recorded", "recorded", "z", false],
  ];
  test.each(cases)("%s against %s, as %s: %p", (own, other, name, is) => {
    expect(isBeforeRivals(toSpec(name), own, [{ claim: WEB, hold: other }])).toBe(is);
  });
});

test("isSurer() orders what proves an address", () => {
  expect(isSurer("shown", "reserved")).toBe(true);
  expect(isSurer("reserved", "recorded")).toBe(true);
  expect(isSurer("recorded", "recorded")).toBe(false);
  expect(isSurer("recorded", "shown")).toBe(false);
  expect(isSurer("disputed", "recorded")).toBe(false);
  expect(isSurer("shown", "disputed")).toBe(false);
});

test("isShown() is true for what a status shows, in dispute or not", () => {
  expect((["disputed", "recorded", "reserved", "shown"] as const).filter(isShown)).toEqual([
    "disputed",
    "shown",
  ]);
});
