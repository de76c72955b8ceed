/**
 * A role that hides the VMs of a machine: they look as if they were gone, and must not be made again.
 * @module
 */
import { afterEach, expect, test } from "bun:test";
import type { MachineSpec } from "../../../../lib/cloud/capabilities/machines.ts";
import type { Privilege } from "../../../../lib/simulator/xenorchestra/access/privileges.ts";
import { Rig, ROLE, USER } from "./rig.ts";

let rig: Rig | undefined;
afterEach(() => rig?.stop());

const HIDING: readonly Privilege[] = ROLE.map((one) =>
  one.resource === "vm" && one.action === "read"
    ? { ...one, selector: "name_label:database" }
    : one,
);
const NO_INTERFACES: Partial<MachineSpec> = {
  template: "vino-diskless",
  interfaces: [],
  disks: [],
};
const countVms = (one: Rig): number =>
  one.list("vms").filter((vm) => String(vm["name_label"]).startsWith("vino-")).length;
const ROUNDS = 12;
const ROUND_MS = 60_000;

test.each([
  ["complete", true, {}],
  ["complete, and has no interfaces", true, NO_INTERFACES],
  ["being made", false, {}],
  ["being made, and has no interfaces", false, NO_INTERFACES],
] as const)(
  "a machine that is %s is made once, although the role hides it",
  async (_what, isComplete, over) => {
    const one = (rig = await Rig.start(ROLE));
    const { auth } = one.simulator;
    const spec = one.spec(over);
    if (isComplete) await one.make(spec);
    auth.setPrivileges(USER.username, HIDING);
    const said: string[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const plan = await one.plan(spec);
      said.push(...plan.problems.map(({ message }) => message));
      await one.step(plan, spec).catch((error: unknown) => said.push(String(error)));
      await one.clock.advance(ROUND_MS);
    }
    expect(countVms(one)).toBe(1);
    expect(said.at(-1)).toContain(
      "exists, but Xen Orchestra does not list it: remove the selector from the privilege vm read",
    );
    auth.setPrivileges(USER.username, ROLE);
    expect(await one.make(spec)).toMatchObject({ state: "Ready", problems: [] });
    expect(countVms(one)).toBe(1);
  },
);

test.each([
  ["complete", true],
  ["being made", false],
] as const)(
  "a machine that is %s is not taken for removed while the role hides it",
  async (...args) => {
    const [, isComplete] = args;
    const one = (rig = await Rig.start(ROLE));
    const { auth } = one.simulator;
    const spec = one.spec();
    if (isComplete) await one.make(spec);
    else await one.step(await one.plan(spec), spec);
    await one.clock.advance(ROUND_MS);
    auth.setPrivileges(USER.username, HIDING);
    for (let round = 0; round < ROUNDS; round += 1) {
      const plan = await one.planRemoval(spec);
      expect(plan.state).toBe("Removing");
      const failure = await one.step(plan, spec).catch((error: unknown) => String(error));
      expect(failure).toContain("exists, but Xen Orchestra does not list it");
      await one.clock.advance(ROUND_MS);
    }
    auth.setPrivileges(USER.username, ROLE);
    expect(await one.remove(spec)).toMatchObject({ state: "Absent", steps: [] });
    expect(countVms(one)).toBe(0);
  },
);
