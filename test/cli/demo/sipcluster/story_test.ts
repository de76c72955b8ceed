import { expect, test } from "bun:test";
import { playSipStory, SIP_STEPS } from "../../../../lib/cli/demo/sipcluster/story.ts";
import { SipWorld } from "../../../../lib/cli/demo/sipcluster/world.ts";
import { startKubernetesSimulator } from "../../../../lib/simulator/kubernetes/mod.ts";
import { PacedClock } from "../../../support/paced_clock.ts";

test("playSipStory() without a controller fails in every step that waits for one, and plays them all", async () => {
  const clock = new PacedClock(400);
  const kubernetes = startKubernetesSimulator({ clock });
  const lines: string[] = [];
  const world = new SipWorld(kubernetes, clock);
  const { signal } = new AbortController();
  const tell = (line: string): void => void lines.push(line);
  expect(await playSipStory({ world, clock, tell }, signal)).toBe(false);
  await kubernetes.stop();
  expect(lines.filter((line) => line.startsWith("\n["))).toHaveLength(SIP_STEPS.length);
  // Nothing is labelled, so a SIPCluster that is deleted leaves nothing.
  expect(lines.filter((line) => line.trim() === "FAILED")).toHaveLength(SIP_STEPS.length - 1);
}, 60_000);
