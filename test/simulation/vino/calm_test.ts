import { expect, test } from "bun:test";
import { calm, restart } from "./story.ts";
import { type Act, RightWorld, VINO } from "./judges/right_world.ts";
import { longTest } from "../../support/long_tests.ts";

const MINUTE_MS = 60_000;

const nothing: Act = () => undefined;
const removeVm: Act = (right) => right.world.cloud.state.removeVm(right.vm(0).id);
const deleteVino: Act = ({ world }) =>
  world.timeline.schedule(MINUTE_MS, () => world.objects.delete("vinoes", VINO));

/** Something goes on changing. */
const work: Act = (right) => {
  right.world.hostJudge.writes += 1;
  right.world.timeline.schedule(MINUTE_MS, () => work(right));
};

const LATE = "Error: not right in time: ";

longTest.each([
  ["calm()", "all is right and at rest", nothing, "in time"],
  ["calm()", "a VM is missing", removeVm, `${LATE}core has 1 VMs and wants 2`],
  ["calm()", "changes go on although all is right", work, `${LATE}writes or retries go on`],
  ["restart()", "nothing changes", nothing, "in time"],
  [
    "restart()",
    "a new process changes something",
    work,
    "Error: a new process changed something: ",
  ],
  ["restart()", "something is wrong after it", deleteVino, "Error: wrong after a restart: "],
] as const)("%s says when %s", async (name, _what, spoil, said) => {
  await using right = await RightWorld.create();
  const end = name === "calm()" ? calm : restart;
  await spoil(right);
  expect(await end(right.world).then(() => "in time", String)).toStartWith(said);
  if (said === "in time") expect(right.world.timeline.monotonic()).toBeLessThan(3 * MINUTE_MS);
});

test("calm() ends at once when a promise is broken", async () => {
  await using right = await RightWorld.create();
  right.world.cloud.state.setVm(right.world.site.foreign.vmId, { name_label: "mine" });
  await calm(right.world);
  expect(right.world.timeline.monotonic()).toBeLessThan(MINUTE_MS);
  expect(right.world.violations).toHaveLength(1);
});
