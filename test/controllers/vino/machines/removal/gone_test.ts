import { expect, test } from "bun:test";
import type { MachinePlan } from "../../../../../lib/cloud/capabilities/machines.ts";
import { isProvenGone } from "../../../../../lib/controllers/vino/machines/removal/gone.ts";
import type { Progress } from "../../../../../lib/controllers/vino/machines/steps/progress_tracker.ts";
import { VINO_OWNER } from "../../../../support/vino/known.ts";

const NAME = "vino-1b4e28ba-worker-0";

function toProgress(plan: Partial<MachinePlan> = {}): Progress {
  const identity = { owner: VINO_OWNER, role: "worker", index: 0 };
  return {
    task: { name: NAME, identity, goal: { kind: "remove" } },
    plan: { state: "Absent", steps: [], problems: [], parts: [], ...plan },
    observedAtMs: 20,
    dueMs: Infinity,
    failures: 0,
    retryMs: -Infinity,
    sinceMs: 0,
    setbacks: [],
  };
}

const PROBLEM = { reason: "MayComeLate", message: "m", kind: "notice" } as const;

test.each<[string, Progress | undefined, boolean]>([
  ["of which a look found nothing", toProgress(), true],
  ["that has a step left", toProgress({ steps: [{ summary: "delete a disk" }] }), false],
  ["that may come late", toProgress({ problems: [PROBLEM] }), false],
  ["that only an inventory does not show", toProgress({ needsLook: true }), false],
  ["that may be in a lost pool", toProgress({ state: "Unknown" }), false],
  ["without a plan", undefined, false],
])("isProvenGone() of a machine %s", (_what, progress, expected) => {
  expect(isProvenGone(progress)).toBe(expected);
});
