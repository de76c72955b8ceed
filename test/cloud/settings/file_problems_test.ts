import { expect, test } from "bun:test";
import { type FileProblem, FileProblems } from "../../../lib/cloud/settings/file_problems.ts";
import { ManualClock } from "../../support/manual_clock.ts";

const WRONG = { problem: "has a blank", isAway: false };
const AWAY = { problem: "is empty", isAway: true };
type Look = readonly [afterMs: number, found: FileProblem | undefined, isNew: boolean];

test.each<[string, Look[]]>([
  [
    "once",
    [
      [0, WRONG, true],
      [90_000, WRONG, false],
    ],
  ],
  [
    "again after it was well",
    [
      [0, WRONG, true],
      [1_000, undefined, false],
      [1_000, WRONG, true],
    ],
  ],
  [
    "after a minute if the file is missing",
    [
      [0, AWAY, false],
      [59_999, AWAY, false],
      [1, AWAY, true],
    ],
  ],
  [
    "after another minute if the file came back in between",
    [
      [0, AWAY, false],
      [50_000, undefined, false],
      [50_000, AWAY, false],
      [60_000, AWAY, true],
    ],
  ],
  [
    "at once if a missing file becomes a wrong one",
    [
      [0, AWAY, false],
      [1_000, WRONG, true],
    ],
  ],
])("FileProblems reports a problem %s", async (_when, looks) => {
  const clock = new ManualClock();
  const problems = new FileProblems(clock);
  for (const [afterMs, found, isNew] of looks) {
    await clock.advance(afterMs);
    expect(problems.findNew(found)).toBe(isNew ? found : undefined);
  }
});
