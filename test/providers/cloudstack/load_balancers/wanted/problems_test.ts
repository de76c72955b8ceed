import { expect, test } from "bun:test";
import {
  isWaiting,
  PROBLEM_REASONS,
  toNotice,
  toWaiting,
} from "../../../../../lib/providers/cloudstack/load_balancers/wanted/problems.ts";

test("a Service waits for a problem, unless the problem says that it is only worth knowing", () => {
  expect(isWaiting([])).toBe(false);
  expect(isWaiting([toNotice("AddressKept", "x")])).toBe(false);
  expect(isWaiting([toNotice("AddressKept", "x"), toWaiting("PortInUse", "x")])).toBe(true);
  expect(isWaiting([{ reason: "PortInUse", message: "x" }])).toBe(true);
});

test("reasons are words of Events, which never change", () => {
  expect(Object.keys(PROBLEM_REASONS).toSorted()).toEqual([
    "AddressKept",
    "AddressNotOurs",
    "AddressNotUsable",
    "InvalidAnnotation",
    "NetworkNotUsable",
    "NodesInOtherNetworks",
    "NotKnown",
    "PortInUse",
    "SourceRangesNotPossible",
    "StickinessNotPossible",
    "UnreadableObject",
    "UnsupportedService",
  ]);
});
