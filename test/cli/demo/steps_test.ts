import { expect, test } from "bun:test";
import { becomes, playSteps } from "../../../lib/cli/demo/steps.ts";
import { PacedClock } from "../../support/paced_clock.ts";

const { signal } = new AbortController();

test("playSteps() plays all steps, draws after each, and fails if one fails", async () => {
  const lines: string[] = [];
  const stage = { clock: new PacedClock(500), tell: (line: string): void => void lines.push(line) };
  const steps = [
    { title: "one", play: () => becomes(stage, signal, () => false) },
    { title: "two", play: async () => true },
  ];
  expect(await playSteps(stage, { steps, draw: () => ["picture"] }, signal)).toBe(false);
  expect(lines).toEqual([
    "\n[1/2] one",
    "picture",
    expect.stringMatching(/^ {5}FAILED after \d\d s\. This did not come true: one$/),
    "\n[2/2] two",
    "picture",
    "     OK",
  ]);
});

test("becomes() waits until something holds, but no longer than it may", async () => {
  const stage = { clock: new PacedClock(500) };
  let looks = 0;
  expect(await becomes(stage, signal, () => (looks += 1) > 3)).toBe(true);
  const startMs = stage.clock.monotonic();
  expect(await becomes(stage, signal, () => false, 1_000)).toBe(false);
  expect(stage.clock.monotonic() - startMs).toBeGreaterThanOrEqual(1_000);
});
