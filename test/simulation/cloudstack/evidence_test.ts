import { afterEach, beforeEach, describe, expect } from "bun:test";
import type { Node } from "../../../lib/kube/kinds/node.ts";
import { listUntrue } from "../judges/calm.ts";
import { findLeader, readNode, settle, SETTINGS } from "../settled.ts";
import { CloudStackWorld } from "./cloud.ts";
import { longTest } from "../../support/long_tests.ts";

const MINUTE_MS = 60_000;
const SHUTDOWN = "node.cloudprovider.kubernetes.io/shutdown";
/** A plain user who does not see what is destroyed, and trusts an empty answer. */
const SEED = await findSeed();

let world: CloudStackWorld;
beforeEach(async () => {
  world = await settle(createWorld(SEED), ["n1", "n2", "n3", "n4"], MINUTE_MS);
});
afterEach(() => world.leave());

function createWorld(seed: number): CloudStackWorld {
  return new CloudStackWorld(seed, () => SETTINGS);
}

async function findSeed(): Promise<number> {
  for (let seed = 3; ; seed += 4) {
    const one = createWorld(seed);
    const { places, trustsEmptyAnswer } = one.cloud;
    await one.leave();
    const isPlain = places.type === "user" && !places.seesDestroyed && !places.hasProject;
    if (isPlain && trustsEmptyAnswer) return seed;
  }
}

/** Sends the deletion of a Node as the leader would, and returns what is broken. */
function pretendDeletion(name: string): string {
  world.invariants.checkSent(findLeader(world), {
    method: "DELETE",
    path: `/api/v1/nodes/${name}`,
    headers: {},
    body: "{}",
  });
  return world.invariants.violations.join("; ");
}

describe("a story of CloudStack", () => {
  longTest(
    "is right, and asks for one list in each interval, while nothing goes wrong",
    async () => {
      expect(listUntrue(world)).toEqual([]);
      const before = world.cloud.requests;
      await world.timeline.advance(MINUTE_MS);
      expect(world.cloud.requests - before).toBeLessThanOrEqual(world.cloud.toBudget(7, MINUTE_MS));
      expect(world.invariants.violations).toEqual([]);
    },
  );

  longTest.each(["expunge", "purge"] as const)(
    "sees the Node of a VM go, with proof, unless the server forgot the VM at once: %s",
    async (how) => {
      world.cloud.state[how](world.machines.get("n1") ?? "");
      world.setReady("n1", false);
      world.noteChange();
      await world.timeline.advance(5 * MINUTE_MS);
      expect(world.findNode("n1") === undefined).toBe(how === "expunge");
      expect(world.invariants.violations).toEqual([]);
    },
  );
});

describe("CloudStackEvidence", () => {
  longTest("tells of a deletion of a Node whose VM exists", () => {
    expect(pretendDeletion("n1")).toContain("whose VM exists");
  });

  longTest("tells of a deletion before CloudStack answered without the VM", () => {
    world.cloud.state.expunge(world.machines.get("n1") ?? "");
    world.noteChange();
    expect(pretendDeletion("n1")).toContain("CloudStack did not answer without the VM");
  });

  longTest(
    "takes no answer that another process was given, nor one of before other keys",
    async () => {
      const vmId = world.machines.get("n1") ?? "";
      const node = readNode(world, "n1");
      const listDoubts = (author: string): string[] =>
        world.invariants.evidence.listDoubts(author, node, vmId, true);
      const { name } = findLeader(world);
      expect(listDoubts("b1").join()).toContain("it never saw the VM");
      expect(listDoubts(name).join()).not.toContain("it never saw the VM");
      const sinceMs = world.timeline.monotonic() + 1;
      world.findProcess(name).uses.push({ sinceMs, said: { ...world.said, token: "another" } });
      expect(listDoubts(name).join()).toContain("it never saw the VM with these keys");
      await world.timeline.advance(1);
    },
  );

  longTest("excuses a deletion only of a VM that the user could not see", async () => {
    const vmId = world.machines.get("n1") ?? "";
    const isExcused = (): boolean => world.invariants.evidence.isExcused("a1", vmId);
    const before = isExcused();
    world.cloud.state.hide(vmId);
    world.noteChange();
    const hidden = isExcused();
    world.cloud.state.hide(vmId, false);
    world.noteChange();
    await world.timeline.advance(2 * MINUTE_MS);
    expect([before, hidden, isExcused()]).toEqual([false, true, false]);
  });

  longTest("tells of a shutdown taint on the Node of a VM that was not off", () => {
    const before = readNode(world, "n1");
    const taints = [{ key: SHUTDOWN, effect: "NoSchedule" as const }];
    const after: Node = { ...before, spec: { ...before.spec, taints } };
    world.invariants.checkChange({ author: findLeader(world).name, before, after });
    expect(world.invariants.violations.join()).toContain("as shut down: its machine was not off");
  });
});
