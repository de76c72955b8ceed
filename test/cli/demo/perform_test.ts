import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performStory } from "../../../lib/cli/demo/perform.ts";
import { sipClusterController } from "../../../lib/controllers/sipcluster/definition.ts";
import { startKubernetesSimulator } from "../../../lib/simulator/kubernetes/mod.ts";
import { PacedClock } from "../../support/paced_clock.ts";

async function perform(isTrue: boolean): Promise<{ code: number; out: string }> {
  const clock = new PacedClock(4);
  const kubernetes = startKubernetesSimulator({ clock });
  const folder = await mkdtemp(join(tmpdir(), "landfall-test-"));
  let out = "";
  const print = (text: string): void => void (out += text);
  try {
    const code = await performStory(
      {
        flags: {
          story: "sipcluster",
          cloud: "xenorchestra",
          once: true,
          verbose: false,
          debugAddress: { kind: "tcp", host: "127.0.0.1", port: 0 },
        },
        folder,
        context: { env: {}, clock, print, complain: print },
      },
      {
        kubernetes: kubernetes.url,
        clock,
        controllers: [sipClusterController],
        page: "/debug/sipclusters",
        clients: { env: {} },
        left: "Nothing is left.",
        listCommands: () => ["landfall sipclusters"],
        introduce: ({ env, page }) => `use ${env}${page}`,
        begin: ({ tell }, signal) => ({
          working: clock.sleep(1e9, signal).catch(() => undefined),
          play: async () => {
            tell("the story");
            return isTrue;
          },
          summarize: () => "the figures",
        }),
      },
      new AbortController().signal,
    );
    return { code, out };
  } finally {
    await rm(folder, { recursive: true });
    await kubernetes.stop();
  }
}

test("performStory() introduces the world, plays, and ends with 0 if every step succeeded", async () => {
  const { code, out } = await perform(true);
  expect(code).toBe(0);
  expect(out).toMatch(
    /^use The .*, in bash, zsh or sh:\n\n {2}\. .*\/env\n {2}# in a browser: http:\/\/127[\d.]+:\d+\/debug\/sip/,
  );
  expect(out).toContain("the story\n\nEvery step succeeded.\n\nthe figures\n");
  expect(out).not.toContain("keeps running");
});

test("performStory() ends with 1 if a step failed", async () => {
  const { code, out } = await perform(false);
  expect([code, out]).toEqual([1, expect.stringContaining("A step failed. --verbose shows")]);
});
