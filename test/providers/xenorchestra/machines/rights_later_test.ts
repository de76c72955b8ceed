/**
 * The role over the whole life of VMs, with what broken creations leave behind: it is enough, and each privilege to
 * change something is needed and named.
 * @module
 */
import { afterEach, describe, expect, test } from "bun:test";
import type { PowerAction } from "../../../../lib/cloud/capabilities/machine_power.ts";
import type { MachinePlan, MachineSpec } from "../../../../lib/cloud/capabilities/machines.ts";
import { describeError } from "../../../../lib/core/errors.ts";
import {
  formatPrivilege,
  PRIVILEGES,
} from "../../../../lib/providers/xenorchestra/machines/privileges.ts";
import type { Privilege } from "../../../../lib/simulator/xenorchestra/access/privileges.ts";
import { Rig, ROLE, USER } from "./rig.ts";

const GIB = 1024 ** 3;
/** Without a right to read, something is missing or not known instead: `inspectMachines()` names that right. */
const WRITES = PRIVILEGES.filter(({ action }) => action !== "read").map(formatPrivilege);

/** What is refused once is refused again. */
const REFUSALS_MAX = 2;
const GIVEN_UP: MachinePlan = { state: "Blocked", steps: [], problems: [], parts: [] };

let rig: Rig | undefined;

afterEach(() => rig?.stop());

/** A call of the next creation fails. */
function failOnce({ simulator }: Rig, ...methods: readonly string[]): void {
  const { faults } = simulator.cloud.hypervisor;
  for (const method of methods) {
    faults.set({ kind: "fail", code: "INTERNAL_ERROR" }, { method, times: 1 });
  }
}

/** Attaches a disk of a person, who may do everything. */
async function attachForeignDisk(
  one: Rig,
  vmId: string,
  role: readonly Privilege[],
): Promise<void> {
  const { auth, token, url } = one.simulator;
  auth.setPrivileges(USER.username);
  const post = async (path: string, body: object): Promise<string> => {
    const headers = { cookie: `authenticationToken=${token}`, "content-type": "application/json" };
    const init = { method: "POST", headers, body: JSON.stringify(body) };
    return Object(await (await fetch(`${url}/rest/v0${path}`, init)).json()).id;
  };
  const srId = one.list("vdis")[0]?.["$SR"];
  const disk = { srId, virtual_size: GIB, name_label: "of a person" };
  await post("/vbds", { VM: vmId, VDI: await post("/vdis", disk) });
  auth.setPrivileges(USER.username, role);
}

function withOtherMacs({ interfaces }: MachineSpec): MachineSpec["interfaces"] {
  return interfaces.map((one) => ({ ...one, mac: one.mac.replace("02:00", "02:01") }));
}

/** Lets two VMs live, with everything that the role is for. @returns The rig, and what was said */
async function live(role: readonly Privilege[]): Promise<{ rig: Rig; said: string }> {
  const one = await Rig.start(role);
  rig = one;
  const said: string[] = [];
  const settle = async (plan: () => Promise<MachinePlan>, spec: MachineSpec): Promise<void> => {
    const before = one.errors.length;
    const planShortly = async (): Promise<MachinePlan> =>
      one.errors.length - before < REFUSALS_MAX ? await plan() : GIVEN_UP;
    const { problems } = await one.settle(planShortly, spec);
    said.push(...problems.map(({ message }) => message));
  };
  const make = (spec: MachineSpec): Promise<void> => settle(() => one.plan(spec), spec);
  const remove = (spec: MachineSpec): Promise<void> => settle(() => one.planRemoval(spec), spec);
  const spec = one.spec();
  // A half-made template stays, then a half-made VM and a disk that is attached to nothing.
  failOnce(one, "VM.provision", "VM.destroy");
  await make(spec);
  const second = { ...spec, index: 1, interfaces: withOtherMacs(spec) };
  failOnce(one, "VBD.create", "VM.destroy");
  await make(second);
  const [vm] = one.vms(spec);
  if (vm !== undefined) {
    const act = async (action: PowerAction): Promise<void> => {
      const acted = one.machines.power.act(vm.id, action, one.fence, one.signal);
      await acted.catch((error) => void said.push(describeError(error)));
      await one.clock.advance(10_000);
    };
    await act("restart");
    await act("pause");
    // Its own user may be unable to pause it.
    one.simulator.state.setVm(vm.id, { power_state: "Paused" });
    await act("resume");
    one.simulator.state.setVm(vm.id, { power_state: "Suspended" });
    await act("on");
    await act("off");
    await make(grow(spec));
    await attachForeignDisk(one, vm.id, role);
    await one.clock.advance(250);
  }
  await remove(spec);
  await remove(second);
  return { rig: one, said: [...said, ...one.errors].join("\n") };
}

/** The same VM with more of everything. */
function grow(spec: MachineSpec): MachineSpec {
  const [root, ...others] = spec.disks;
  if (root === undefined) throw new Error("Cannot test: no disk");
  const disks = [root, ...others.map((one) => ({ ...one, sizeBytes: 2 * one.sizeBytes }))];
  const more = { name: "more", network: "oam", mac: "02:00:00:00:00:03" };
  return { ...spec, cpus: 8, disks, interfaces: [...spec.interfaces, more] };
}

describe("the role", () => {
  test("is enough to make VMs, to clean up, to change them and to remove them", async () => {
    const { rig: one, said } = await live(ROLE);
    expect(said).toBe("");
    expect(one.done.join("\n")).toMatch(/delete half-made template /);
    expect(one.done.join("\n")).toMatch(/detach disk of a person /);
    expect(one.list("vms").filter((vm) => String(vm["name_label"]).startsWith("vino-"))).toEqual(
      [],
    );
  });

  test.each(WRITES)("is not enough without %s, which is named", async (name) => {
    const at = PRIVILEGES.findIndex((one) => formatPrivilege(one) === name);
    const { said } = await live(ROLE.filter((_, index) => index !== at));
    expect(said).toContain(name);
  });
});
