import { expect, test } from "bun:test";
import { SETTINGS } from "../settled.ts";
import { StayJudge } from "./stay_judge.ts";
import { XenOrchestraWorld } from "./cloud.ts";

const AUTHOR = "a1";
const LIST_MS = 30_000;

type Act = (scene: Scene) => unknown;

/** A machine, another pool, and a process that is shown both. */
class Scene {
  readonly world = new XenOrchestraWorld(7, () => SETTINGS);
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
  async tell(gone: number): Promise<string> {
    this.world.cloud.state.removeVm(this.vmId);
    await this.list(gone);
    const doubts = this.judge.listDoubts(AUTHOR, this.vmId, [this.other]);
    await this.world.leave();
    return doubts.join("; ");
  }
}

const lose: Act = ({ world, other }) => world.cloud.state.dropPool(other);
const migrate: Act = ({ world, vmId }) => world.cloud.state.beginMigration(vmId);
const fail: Act = ({ judge }) => judge.noteFailure(AUTHOR);

function list(times: number): Act {
  return (scene) => scene.list(times);
}

test.each<readonly [what: string, acts: readonly Act[], gone: number, said: string]>([
  ["that stayed and is gone for long enough", [list(2), lose, list(7)], 21, ""],
  ["that left too soon", [list(2), lose, list(3)], 21, "ms after"],
  ["that is gone for too short a time", [list(2), lose, list(7)], 19, "ms only"],
  [
    "that was being migrated",
    [list(2), lose, list(7), migrate, list(1)],
    21,
    "it was being migrated",
  ],
  [
    "that stayed with a failure in between",
    [list(2), lose, list(7), fail, list(2)],
    21,
    "short or broken",
  ],
  ["that the process never saw", [], 21, "never seen"],
])("StayJudge.listDoubts() of a machine %s", async (_what, acts, gone, said) => {
  const scene = new Scene();
  for (const act of acts) await act(scene);
  const doubts = await scene.tell(gone);
  expect(doubts).toContain(said);
  expect(doubts === "").toBe(said === "");
});
