import { expect, test } from "bun:test";
import type { VinoStatus } from "../../../../lib/controllers/vino/resource/vino.ts";
import type { Outcome } from "../../../../lib/controllers/vino/status/outcome.ts";
import { findSilenceChange } from "../../../../lib/controllers/vino/status/silence.ts";
import { planStatus } from "../../../../lib/controllers/vino/status/status.ts";
import { toReport, toReports } from "../../../support/vino/reports.ts";

const SERVED: Outcome = { kind: "served", spec: {}, report: toReports([toReport(0)]) };
const SILENT: Outcome = { kind: "refused", spec: {}, why: "silent", message: "no answer" };
const STILL: Outcome = { kind: "refused", spec: {}, why: "silent", message: "another timeout" };
const LEAVING: Outcome = { kind: "deleting", obstacle: "no answer" };
const NO_POOL: Outcome = { kind: "refused", spec: {}, why: "noPool", message: "no pool" };
const INVALID: Outcome = {
  kind: "invalid",
  problems: [{ path: "spec.nodes", message: "must be a list" }],
};

function toStatus(outcome: Outcome, before?: VinoStatus): VinoStatus {
  const vino = { metadata: { name: "edge", generation: 1 }, ...(before && { status: before }) };
  return planStatus(vino, { outcome, records: new Map(), nowMs: 0 }) ?? before ?? {};
}

test.each<[string, Outcome | undefined, Outcome, string | undefined]>([
  ["a first silence", undefined, SILENT, "cloudSilent: no answer"],
  ["a silence after an answer", SERVED, SILENT, "cloudSilent: no answer"],
  ["a silence during a deletion", SERVED, LEAVING, "cloudSilent: no answer"],
  ["a silence that goes on", SILENT, STILL, undefined],
  ["a deletion during a silence", SILENT, LEAVING, undefined],
  ["an answer", SILENT, SERVED, "cloudBack: The cloud answers again"],
  ["an answer without the pool", SILENT, NO_POOL, "cloudBack: The cloud answers again"],
  ["a wrong spec during a silence", SILENT, INVALID, undefined],
  ["no silence at all", SERVED, NO_POOL, undefined],
])("findSilenceChange() of %s", (_what, before, outcome, said) => {
  const status = before && toStatus(before);
  const change = findSilenceChange(status, toStatus(outcome, status), outcome);
  const text = change && `${change.word}: ${change.message.replace(/\. Landfall.*/, "")}`;
  expect(text).toBe(said);
});
