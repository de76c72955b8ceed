import { expect, test } from "bun:test";
import type { Outcome } from "../../../../lib/controllers/vino/status/outcome.ts";
import { findWarning, type Warning } from "../../../../lib/controllers/vino/status/warning.ts";
import { toReport, toReports } from "../../../support/vino/reports.ts";

const PROBLEMS = [{ path: "spec.nodes", message: "must be a list" }];
const READY = toReports([toReport(0)]);
const REFUSED = { kind: "refused", spec: {}, message: "m" } as const;
const toServed = (report: Partial<typeof READY>): Outcome => ({
  kind: "served",
  spec: {},
  report: { ...READY, ...report },
});
const NOWHERE = { role: "worker", missing: 3, kind: "noHosts", why: "no host" } as const;

test.each<[string, Outcome, Warning | undefined]>([
  [
    "a wrong spec",
    { kind: "invalid", problems: PROBLEMS },
    { word: "invalidSpec", message: "spec.nodes: must be a list" },
  ],
  [
    "a spec without forms",
    { kind: "incomplete", spec: {}, missing: PROBLEMS },
    { word: "formMissing", message: "spec.nodes: must be a list" },
  ],
  ["a wrong pool", { ...REFUSED, why: "noPool" }, { word: "noPool", message: "m" }],
  ["too many machines", { ...REFUSED, why: "tooMany" }, { word: "tooMany", message: "m" }],
  [
    "pools that are refused",
    { ...REFUSED, why: "poolsRefused" },
    { word: "poolsRefused", message: "m" },
  ],
  [
    "pools that are refused in a deletion",
    { kind: "deleting", why: "poolsRefused", obstacle: "m" },
    { word: "poolsRefused", message: "m" },
  ],
  ["a silent cloud", { ...REFUSED, why: "silent" }, undefined],
  [
    "hosts that are not there, before addresses",
    toServed({ shortages: [NOWHERE], addressProblems: ["network oam is full"] }),
    { word: "noHosts", message: "3 of role worker: no host" },
  ],
  [
    "a full network",
    toServed({ addressProblems: ["network oam is full"] }),
    { word: "noAddress", message: "network oam is full" },
  ],
  [
    "two full networks, each in a sentence",
    toServed({ addressProblems: ["network oam is full. Widen it", "network pxe is full"] }),
    { word: "noAddress", message: "network oam is full. Widen it. Network pxe is full" },
  ],
  [
    "machines with other addresses, before a full network",
    toServed({ addressDifferences: ["eth0 of a has 192.0.2.9"], addressProblems: ["oam is full"] }),
    { word: "addressesDiffer", message: "eth0 of a has 192.0.2.9" },
  ],
  ["hosts that are disabled", toServed({ shortages: [{ ...NOWHERE, kind: "noRoom" }] }), undefined],
  ["machines that are complete", { kind: "served", spec: {}, report: READY }, undefined],
  ["a deletion", { kind: "deleting", obstacle: "m" }, undefined],
])("findWarning() of %s", (_what, outcome, warning) => {
  expect(findWarning(outcome)).toEqual(warning);
});
