/**
 * Fields of Services with hostile values, on CloudStack.
 * @module
 */
import { describe, expect } from "bun:test";
import type { JsonObject } from "../../../lib/simulator/kubernetes/mod.ts";
import { USED_IP } from "../../support/services/site.ts";
import { isPolluted } from "../../support/net/hostile.ts";
import { OddStage, pickValues } from "./stage.ts";
import { longTest } from "../../support/long_tests.ts";

const ODD = "odd";
const PORT = { name: "http", port: 80, nodePort: 30_080, protocol: "TCP", targetPort: 8_080 };
const BLOCKS = Array.from({ length: 1_000 }, (_, at) => `10.${at >> 8}.${at & 255}.0/24`);

/** What the value of a field leads to. */
interface Case {
  readonly what: string;
  readonly spec: JsonObject;
  /** What a warning says, if the value is refused; absent: the Service gets an address. */
  readonly refusal?: RegExp | "silent";
  /** Who may connect at most, in all. @default {["0.0.0.0/0"]} */
  readonly sources?: readonly string[];
  readonly good: JsonObject;
}

const toPorts = (change: JsonObject): JsonObject => ({ ports: [{ ...PORT, ...change }] });
const GOOD_PORTS = { ports: [PORT] };
const RANGES = { loadBalancerSourceRanges: ["10.0.0.0/8"] };

const CASES: readonly Case[] = [
  ...[...pickValues(3), "0.0.0.0"]
    .filter((value) => value !== " ")
    .map((value) => ({
      what: `loadBalancerIP ${JSON.stringify(value.slice(0, 30))}`,
      spec: { loadBalancerIP: value },
      refusal: /spec\.loadBalancerIP|0\.0\.0\.0|127\.0\.0\.1/,
      good: { loadBalancerIP: null },
    })),
  {
    what: "source ranges of IPv6",
    spec: { loadBalancerSourceRanges: ["::/0"] },
    refusal: /source ranges let no client in/,
    sources: [],
    good: RANGES,
  },
  {
    what: "1,000 source ranges",
    spec: { loadBalancerSourceRanges: BLOCKS },
    sources: BLOCKS,
    good: RANGES,
  },
  { what: "SCTP", spec: toPorts({ protocol: "SCTP" }), refusal: /SCTP/, good: GOOD_PORTS },
  {
    what: "two ports of two protocols",
    spec: { ports: [PORT, { ...PORT, name: "udp", protocol: "UDP" }] },
    refusal: /80/,
    good: GOOD_PORTS,
  },
];

/** Whether the status shows one address that the cloud has. */
function hasAddress(odd: OddStage): boolean {
  const ingress = odd.find(ODD)?.status?.loadBalancer?.ingress ?? [];
  return (
    ingress.length === 1 && /^(198\.51\.100|203\.0\.113)\.\d+$/.test(odd.readAddress(ODD) ?? "")
  );
}

async function tryCase(odd: OddStage, one: Case): Promise<void> {
  const { what, spec, refusal, sources = ["0.0.0.0/0"], good } = one;
  odd.clearSaid();
  odd.create(ODD, { spec });
  await odd.checkBeside();
  expect({ what, has: odd.readAddress(ODD) !== undefined }).toEqual({
    what,
    has: refusal === undefined,
  });
  const said = odd.listSaid().join("\n");
  if (refusal instanceof RegExp) expect(said).toMatch(refusal);
  for (const opening of odd.listOpenings()) {
    expect({ what, sources: opening.sources.filter((text) => !sources.includes(text)) }).toEqual({
      what,
      sources: [],
    });
  }
  odd.checkForeign();
  odd.change(ODD, { spec: good });
  await odd.until(`${what} does not come right`, () => odd.readAddress(ODD) !== undefined);
  odd.checkForeign();
  // What it has stays as it is, or follows; it is never open for more.
  const before = odd.listOpenings().flatMap((opening) => opening.sources);
  odd.change(ODD, { spec });
  await odd.stage.clock.advance(10_000);
  for (const opening of odd.listOpenings()) {
    const more = opening.sources.filter((text) => ![...before, ...sources].includes(text));
    expect({ what, more }).toEqual({ what, more: [] });
  }
  await odd.remove(ODD);
  odd.checkNothingLeft();
}

describe("hostile fields of a Service", () => {
  longTest("are refused by name or do nothing, and come right", async () => {
    await using odd = new OddStage();
    for (const one of CASES) {
      await tryCase(odd, one);
    }
    expect(isPolluted()).toBe(false);
  });

  const ENTRIES: readonly JsonObject[] = [
    { ip: USED_IP },
    {},
    { ip: "fe80::1" },
    { hostname: "constructor" },
  ];
  longTest("in its status are replaced once", async () => {
    await using odd = new OddStage();
    for (const entry of ENTRIES) {
      for (const ingress of [[entry], Array.from({ length: 100 }, () => entry)]) {
        odd.create(ODD, { status: { loadBalancer: { ingress } } });
        await odd.checkBeside();
        await odd.until("its status stays", () => hasAddress(odd));
        await odd.remove(ODD);
        odd.create(ODD);
        await odd.until("it has no address", () => hasAddress(odd));
        odd.change(ODD, { status: { loadBalancer: { ingress } } });
        await odd.until("its status stays", () => hasAddress(odd));
        await odd.remove(ODD);
        odd.checkNothingLeft();
      }
    }
  });
});
