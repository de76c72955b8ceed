import { expect, test } from "bun:test";
import { playVinoStory, VINO_STEPS } from "../../../../lib/cli/demo/vino/story.ts";
import { VinoWorld } from "../../../../lib/cli/demo/vino/world.ts";
import { PacedClock } from "../../../support/paced_clock.ts";

test("playVinoStory() without a controller fails in every step that waits for one, and plays them all", async () => {
  const clock = new PacedClock(2_000);
  const world = await VinoWorld.start(clock);
  const lines: string[] = [];
  const { signal } = new AbortController();
  const tell = (line: string): void => void lines.push(line);
  expect(await playVinoStory({ world, clock, tell }, signal)).toBe(false);
  await world.stop();
  expect(lines.filter((line) => line.startsWith("\n["))).toHaveLength(VINO_STEPS.length);
  expect(lines.filter((line) => line.trim() === "FAILED")).toHaveLength(VINO_STEPS.length);
}, 60_000);
