import { describe, expect, test } from "bun:test";
import { type Hold, Allocations } from "../../../lib/cloud/pools/allocations.ts";
import { PoolMap } from "../../../lib/cloud/pools/pool.ts";
import { isBeforeRivals, isSurer, listRivals } from "../../../lib/cloud/pools/sharing.ts";
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

function createAllocations(): Allocations {
  const { pools } = toSettings({ name: "a", addresses: [ADDRESS], shareable: true });
  const allocations = new Allocations(new PoolMap(pools));
  allocations.sync([WEB]);
  return allocations;
}

describe("listRivals()", () => {
  const { ports: _unknown, ...withoutPorts } = toSpec("x", { annotations: { [SHARED]: "k" } });
  const cases: readonly [string, Parameters<typeof listRivals>[2]][] = [
    [
      "one port that is the same",
      toSpec("x", {
        annotations: { [SHARED]: "k" },
        ports: [
          { protocol: "TCP", port: 81 },
          { protocol: "TCP", port: 443 },
        ],
      }),
    ],
    ["ports that nobody can read", withoutPorts],
  ];
  test.each(cases)("has a Service with %s", (_title, claim) => {
    expect(listRivals(createAllocations(), ADDRESS, claim)).toHaveLength(1);
  });

  test("is in the order of the names", () => {
    const allocations = createAllocations();
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

test("an address in dispute proves nothing", () => {
  expect(isSurer("disputed", "recorded")).toBe(false);
  expect(isSurer("shown", "disputed")).toBe(false);
});
