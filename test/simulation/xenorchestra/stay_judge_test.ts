import { describe, expect, test } from "bun:test";
import { DEFAULT_DELETION } from "../../../lib/cloud/deletion/guard.ts";
import { StayJudge } from "./stay_judge.ts";
import { XenOrchestraWorld } from "./cloud.ts";

const AUTHOR = "a1";
const LIST_MS = 30_000;

/** A machine, another pool, and a process that is shown both. */
class Scene {
  readonly world = new XenOrchestraWorld(7, () => ({
    deletion: DEFAULT_DELETION,
    refreshIntervalMs: LIST_MS,
    replicas: 1,
    pools: 2,
    nodes: 1,
  }));
  readonly judge = new StayJudge(this.world.cloud, this.world);
  readonly vmId = this.world.addMachine("n1");
  readonly own = String(this.world.cloud.truth.find(this.vmId)?.["$pool"]);
  readonly other = this.world.cloud.pools.find(({ id }) => id !== this.own)?.id ?? "";

  async list(times: number): Promise<void> {
    for (let at = 0; at < times; at += 1) {
      this.judge.noteList(AUTHOR);
      await this.world.timeline.advance(LIST_MS);
    }
  }

  /** The doubts once the machine has been gone for so many lists. */
  async tell(gone: number = 21): Promise<string> {
    this.world.cloud.state.removeVm(this.vmId);
    await this.list(gone);
    const doubts = this.judge.listDoubts(AUTHOR, this.vmId, [this.other]);
    await this.world.leave();
    return doubts.join("; ");
  }
}

describe("StayJudge.listDoubts()", () => {
  test("has none of a machine that stayed for long enough, and is gone for long enough", async () => {
    const scene = new Scene();
    await scene.list(2);
    scene.world.cloud.state.dropPool(scene.other);
    await scene.list(7);
    expect(await scene.tell()).toBe("");
  });

  const doubtful: [string, (scene: Scene) => Promise<void>, number, string][] = [
    ["left too soon", (scene) => scene.list(3), 21, "ms after"],
    ["is gone for too short a time", (scene) => scene.list(7), 19, "ms only"],
    [
      "was being migrated",
      async (scene) => {
        await scene.list(7);
        scene.world.cloud.state.beginMigration(scene.vmId);
        await scene.list(1);
      },
      21,
      "it was being migrated",
    ],
    [
      "stayed with a failure in between",
      async (scene) => {
        await scene.list(7);
        scene.judge.noteFailure(AUTHOR);
        await scene.list(2);
      },
      21,
      "short or broken",
    ],
  ];
  test.each(doubtful)("doubts one that %s", async (_title, happen, gone, words) => {
    const scene = new Scene();
    await scene.list(2);
    scene.world.cloud.state.dropPool(scene.other);
    await happen(scene);
    expect(await scene.tell(gone)).toContain(words);
  });

  test("doubts one that the process never saw", async () => {
    const scene = new Scene();
    expect(await scene.tell()).toContain("never seen");
  });
});
