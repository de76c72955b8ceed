/**
 * Annotations of Services with hostile values, on CloudStack.
 * @module
 */
import { describe, expect } from "bun:test";
import { ANNOTATIONS } from "../../../lib/providers/cloudstack/load_balancers/words.ts";
import { sample } from "../../support/extent.ts";
import { isPolluted } from "../../support/net/hostile.ts";
import { OddStage, pickValues } from "./stage.ts";
import { longTest } from "../../support/long_tests.ts";

const RANGES = "service.beta.kubernetes.io/load-balancer-source-ranges";
const RECORD = "landfall.dev/load-balancer";
const ODD = "odd";

/** An annotation, what it takes besides its own value, and what may have any value. */
interface Case {
  readonly annotation: string;
  readonly besides?: Readonly<Record<string, string>>;
  /** Whether the value is refused; else the Service gets its address. */
  readonly isRefused: (value: string) => boolean;
  /** Whether something is said, by the name of the annotation. */
  readonly isTold?: (value: string) => boolean;
  readonly good: string;
}

const { hostname, proxyProtocol, sourceCidrs, stickinessMethod, stickinessParams, isAssociated } =
  ANNOTATIONS;
const CASES: readonly Case[] = [
  {
    annotation: hostname,
    isRefused: (value) =>
      value !== "" && (!/^[a-z\d][a-z\d-]*[a-z\d]$/.test(value) || value.length > 253),
    good: "web.example.com",
  },
  { annotation: proxyProtocol, isRefused: () => false, isTold: () => true, good: "true" },
  { annotation: sourceCidrs, isRefused: () => true, good: "10.0.0.0/8" },
  { annotation: RANGES, isRefused: (value) => value.trim() !== "", good: "10.0.0.0/8" },
  {
    annotation: stickinessMethod,
    isRefused: (value) => value !== "",
    good: "SourceBased",
  },
  {
    annotation: stickinessParams,
    besides: { [stickinessMethod]: "SourceBased" },
    isRefused: (value) => value !== "",
    good: "tablesize=200k",
  },
  { annotation: isAssociated, isRefused: () => false, isTold: () => false, good: "true" },
  { annotation: RECORD, isRefused: () => false, isTold: () => false, good: "" },
];

async function tryValue(odd: OddStage, one: Case, value: string): Promise<void> {
  const { annotation, besides, isRefused, isTold = isRefused, good } = one;
  odd.clearSaid();
  odd.create(ODD, { annotations: { ...besides, [annotation]: value } });
  await odd.checkBeside();
  expect([value.slice(0, 80), odd.readAddress(ODD) === undefined]).toEqual([
    value.slice(0, 80),
    isRefused(value),
  ]);
  const said = odd.listSaid().filter((text) => text.includes(annotation));
  expect([value.slice(0, 80), said.length > 0]).toEqual([value.slice(0, 80), isTold(value)]);
  if (isRefused(value) && [sourceCidrs, RANGES].includes(annotation)) {
    expect(odd.listOpenings()).toEqual([]);
  }
  odd.checkForeign();
  odd.change(ODD, { annotations: { [annotation]: good } });
  await odd.until("it does not come right", () => odd.readAddress(ODD) !== undefined);
  odd.checkForeign();
  odd.change(ODD, { annotations: { [annotation]: value } });
  await odd.stage.clock.advance(10_000);
  if (isRefused(value) && [sourceCidrs, RANGES].includes(annotation)) {
    for (const { sources } of odd.listOpenings()) expect(sources).toEqual(["10.0.0.0/8"]);
  }
  expect(odd.readAddress(ODD)).toBeDefined();
  await odd.remove(ODD);
  odd.checkNothingLeft();
}

describe("hostile annotations of a Service", () => {
  longTest.each(sample(CASES))("$annotation", async (one) => {
    await using odd = new OddStage();
    for (const value of ["", ...pickValues(CASES.indexOf(one))]) await tryValue(odd, one, value);
    expect(isPolluted()).toBe(false);
  });
});
