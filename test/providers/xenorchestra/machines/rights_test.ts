/**
 * What happens to a creation without a privilege of the role in the guide.
 * @module
 */
import { afterEach, expect, test } from "bun:test";
import {
  formatPrivilege,
  PRIVILEGES,
} from "../../../../lib/providers/xenorchestra/machines/privileges.ts";
import { Rig, ROLE } from "./rig.ts";

let rig: Rig | undefined;

afterEach(() => rig?.stop());

/** What a machine needs, right at its creation. */
const AT_CREATION = [
  "pool create:vm",
  "vm-template instantiate",
  "host allow-vm",
  "vif create",
  "vdi create",
];

test.each(AT_CREATION)("without %p nothing is made, and the message names it", async (missing) => {
  const less = PRIVILEGES.filter((one) => formatPrivilege(one) !== missing);
  rig = await Rig.start(
    ROLE.filter((one) => less.some((record) => formatPrivilege(record) === formatPrivilege(one))),
  );
  const spec = rig.spec();
  const before = rig.list("vm-templates").length;
  await expect(rig.step(await rig.plan(spec), spec)).rejects.toMatchObject({
    problem: { reason: "NoRight", kind: "decision" },
    message: expect.stringContaining(missing),
  });
  expect(rig.vms(spec)).toEqual([]);
  expect(rig.list("vm-templates")).toHaveLength(before);
});

test("without a right to see tasks a creation is never taken for a leftover", async () => {
  rig = await Rig.start(ROLE.filter(({ resource }) => resource !== "task"));
  rig.simulator.cloud.hypervisor.operationMs = 600_000;
  const spec = rig.spec();
  await rig.step(await rig.plan(spec), spec);
  for (let round = 0; round < 5; round += 1) {
    const plan = await rig.plan(spec);
    expect(plan.steps).toEqual([]);
    await rig.clock.advance(10_000);
  }
});
