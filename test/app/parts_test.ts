import { expect, test } from "bun:test";
import { Fence, LeadershipLostError } from "../../lib/core/fence.ts";
import { ScriptedKubeClient } from "../support/kube/scripted_kube_client.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { createParts } from "../../lib/app/parts.ts";
import { toBareApp } from "../support/process/bare_app.ts";
import { FakeProvider } from "../support/cloud/instances.ts";

test("createParts() only puts the parts together: nothing is asked, nothing is known", () => {
  const provider = new FakeProvider();
  const { cloud } = createParts(toBareApp({ provider }));
  expect(cloud?.nodes.synced).toBe(false);
  expect(cloud?.source.current).toBeUndefined();
  expect(cloud?.source.lastAttemptMs).toBeUndefined();
});

test("createParts() lets nobody write without leadership, or everybody when nobody is elected", () => {
  const alone = new Fence();
  createParts(toBareApp({ fence: alone }));
  alone.check();
  const fence = new Fence();
  const client = new ScriptedKubeClient(new ManualClock());
  const times = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 };
  createParts(toBareApp({ fence, election: { client, namespace: "n", name: "l", ...times } }));
  expect(() => fence.check()).toThrow(LeadershipLostError);
});
