/**
 * The privileges of the role in the guide: what a creation without one does, and how a lack is found before.
 * @module
 */
import { afterEach, describe, expect, test } from "bun:test";
import {
  findPrivilege,
  formatPrivilege,
  type GrantedPrivilege,
  listLacking,
  MACHINES_ROLE,
  PRIVILEGES,
  USER_ID,
} from "../../../../lib/providers/xenorchestra/machines/privileges.ts";
import { Rig, ROLE, SEED, USER } from "./rig.ts";
import { sample } from "../../../support/extent.ts";
import type { PowerAction } from "../../../../lib/cloud/capabilities/machine_power.ts";
import type { MachinePlan, MachineSpec } from "../../../../lib/cloud/capabilities/machines.ts";
import { describeError } from "../../../../lib/core/errors.ts";
import type { Privilege } from "../../../../lib/simulator/xenorchestra/access/privileges.ts";
import { CloudError } from "../../../../lib/cloud/errors.ts";
import { inspectMachines } from "../../../../lib/providers/xenorchestra/machines/inspection.ts";
import type { MachinesApi } from "../../../../lib/providers/xenorchestra/machines/wire/machines_api.ts";

let rig: Rig | undefined;

/** What a machine needs, right at its creation. */
const AT_CREATION = [
  "pool create:vm",
  "vm-template instantiate",
  "host allow-vm",
  "vif create",
  "vdi create",
];

describe("rights", () => {
  afterEach(() => rig?.stop());

  test.each(AT_CREATION)(
    "without %p nothing is made, and the message names it",
    async (missing) => {
      const less = PRIVILEGES.filter((one) => formatPrivilege(one) !== missing);
      rig = await Rig.start(
        ROLE.filter((one) =>
          less.some((record) => formatPrivilege(record) === formatPrivilege(one)),
        ),
      );
      const spec = rig.spec();
      const before = rig.list("vm-templates").length;
      await expect(rig.step(await rig.plan(spec), spec)).rejects.toMatchObject({
        problem: { reason: "NoRight", kind: "decision" },
        message: expect.stringContaining(missing),
      });
      expect(rig.vms(spec)).toEqual([]);
      expect(rig.list("vm-templates")).toHaveLength(before);
    },
  );

  test.each(["pool", "host", "network", "sr", "vm", "vm-template", "vif", "vdi", "vbd", "task"])(
    "without the right to read objects of the kind %s nothing is asked for, and the message names it",
    async (kind) => {
      rig = await Rig.start(
        ROLE.filter(({ resource, action }) => resource !== kind || action !== "read"),
      );
      const plan = await rig.plan(rig.spec());
      expect(plan.steps).toEqual([]);
      const [problem] = plan.problems;
      if (kind !== "pool" && kind !== "host") {
        expect(problem).toMatchObject({ reason: "NoRight", kind: "decision" });
      }
      expect(problem?.message).toContain(`${kind} read`);
      rig.simulator.auth.setPrivileges(USER.username, ROLE);
      await rig.refresh();
      expect((await rig.plan(rig.spec())).steps).toHaveLength(1);
    },
  );

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
});

const GIB = 1024 ** 3;
/** Without a right to read, something is missing or not known instead: `inspectMachines()` names that right. */
const WRITES = PRIVILEGES.filter(({ action }) => action !== "read").map(formatPrivilege);

/** What is refused once is refused again. */
const REFUSALS_MAX = 2;
const GIVEN_UP: MachinePlan = { state: "Blocked", steps: [], problems: [], parts: [] };

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
  const VDI = await post("/vdis", disk);
  await one.clock.advance(250);
  await post("/vbds", { VM: vmId, VDI });
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
  const spec = one.spec({ seed: SEED });
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
  afterEach(() => rig?.stop());

  test("is enough to make VMs, to clean up, to change them and to remove them", async () => {
    const { rig: one, said } = await live(ROLE);
    expect(said).toBe("");
    expect(one.done.join("\n")).toMatch(/delete half-made template /);
    expect(one.done.join("\n")).toMatch(/detach disk of a person /);
    expect(one.list("vms").filter((vm) => String(vm["name_label"]).startsWith("vino-"))).toEqual(
      [],
    );
  });

  test.each(sample(WRITES))("is not enough without %s, which is named", async (name) => {
    const at = PRIVILEGES.findIndex((one) => formatPrivilege(one) === name);
    const { said } = await live(ROLE.filter((_, index) => index !== at));
    expect(said).toContain(name);
  });
});

test("PRIVILEGES allow to change and to delete only what has a name of ours", () => {
  const writes = PRIVILEGES.filter(({ action }) =>
    /^(update|delete|start|shutdown|reboot|pause|unpause|resume)/.test(action),
  );
  // A detached disk stays, and what is attached has no name.
  const wide = writes.filter(({ selector }) => selector !== "name_label:/^vino-/");
  expect(writes.length).toBeGreaterThan(6);
  expect(wide.map(formatPrivilege)).toEqual(["vbd delete"]);
});

test("PRIVILEGES hide no object that a proof of absence needs", () => {
  const reads = PRIVILEGES.filter(
    ({ action, resource }) => action === "read" && resource !== "task",
  );
  expect(reads.length).toBeGreaterThan(6);
  expect(reads.filter(({ selector }) => selector !== undefined)).toEqual([]);
});

test("PRIVILEGES have each privilege once", () => {
  const names = PRIVILEGES.map(formatPrivilege);
  expect(new Set(names).size).toBe(names.length);
});

test.each([
  ["vm update", { resource: "vm", action: "update:tags" }],
  ["pool create:vm", { resource: "pool", action: "create:vm" }],
  [undefined, { resource: "pool", action: "create" }],
  [undefined, { resource: "vm", action: "updates" }],
  [undefined, { resource: "vm-template", action: "update:tags" }],
])("findPrivilege() finds %p for %j", (expected, missing) => {
  const found = findPrivilege(missing);
  expect(found && formatPrivilege(found)).toBe(expected);
});

const ALL_TEXTS = PRIVILEGES.map(formatPrivilege);
const without = (name: string): string[] => ALL_TEXTS.filter((one) => one !== name);

test.each<[what: string, has: readonly string[], lacks: readonly string[]]>([
  ["nothing of a user with all", ALL_TEXTS, []],
  ["everything of a user with none", [], ALL_TEXTS],
  ["the one that is missing", without("vif create"), ["vif create"]],
  ["nothing if a wider one is there", [...without("sr import:vdi"), "sr import"], []],
  ["nothing if everything of its kind is there", [...without("sr import:vdi"), "sr *"], []],
  ["one of another kind", [...without("sr import:vdi"), "vm *"], ["sr import:vdi"]],
  ["one if only a finer one is there", [...without("vm update"), "vm update:tags"], ["vm update"]],
])("listLacking() lists %s", (_what, has, lacks) => {
  expect(listLacking(has.map(toGranted)).map(formatPrivilege)).toEqual([...lacks]);
});

function toGranted(name: string): GrantedPrivilege {
  const [resource = "", action = ""] = name.split(" ");
  return { resource, action };
}

test.each([
  ["vm read", "tags:production", ["vm read"]],
  ["vm *", "tags:production", ["vm read"]],
  ["vm update", "name_label:/^vino-/", []],
  ["task read", "properties:userId:me", []],
] as const)("listLacking() judges %s for only some objects", (name, selector, lacks) => {
  const [resource] = name.split(" ");
  const isAny = name.endsWith(" *");
  const others = PRIVILEGES.filter(
    (one) => formatPrivilege(one) !== (isAny ? `${resource} read` : name),
  );
  const has = [...others, { ...toGranted(name), selector }];
  expect(listLacking(has).map(formatPrivilege)).toEqual([...lacks]);
  // Another role of the user may have the whole privilege.
  expect(listLacking([...has, toGranted(name)])).toEqual([]);
});

test("MACHINES_ROLE has the privileges as Xen Orchestra takes them, without their purposes", () => {
  const { privileges } = MACHINES_ROLE.role;
  expect(privileges).toHaveLength(PRIVILEGES.length);
  expect(privileges).toContainEqual({
    effect: "allow",
    resource: "task",
    action: "read",
    selector: `properties:userId:${USER_ID}`,
  });
  const keys = new Set(privileges.flatMap((one) => Object.keys(one)));
  expect([...keys].sort()).toEqual(["action", "effect", "resource", "selector"]);
});

const signal = new AbortController().signal;
const ALL = PRIVILEGES;

/** Nothing in these tests may ask JSON-RPC unless it says so. */
const session = {
  callRpc: (): Promise<unknown> => Promise.reject(new Error("asked by JSON-RPC")),
};

async function inspect(over: object, isManaged = false): Promise<string[]> {
  const api = {
    list: async () => ({ objects: [{ id: "x" }], undecodable: new Map() }),
    readUserId: async () => "u",
    readRights: async () => ALL,
    ...over,
  } as unknown as MachinesApi;
  const findings = await inspectMachines({ api, session, isManaged }, signal);
  return findings
    .filter(({ level }) => level !== "ok")
    .map(({ level, code }) => `${level} ${code}`);
}

const less = ALL.filter((one) => formatPrivilege(one) !== "vif create");
const denied = async (): Promise<never> => {
  throw new CloudError("denied", "no", { status: 403 });
};

test.each<[string, object, readonly string[]]>([
  ["nothing wrong", {}, []],
  ["nothing wrong for an administrator", { readRights: async () => "all" }, []],
  ["a missing privilege", { readRights: async () => less }, ["failure machines.rights"]],
  ["rights that are not known", { readRights: async () => "unknown" }, ["warning machines.rights"]],
  ["an unknown user", { readUserId: async () => undefined }, ["warning machines.rights"]],
  [
    "empty lists",
    { list: async () => ({ objects: [] }) },
    ["failure machines.vm-templates", "failure machines.srs", "failure machines.networks"],
  ],
  [
    "refused lists",
    { list: denied },
    ["failure machines.vm-templates", "failure machines.srs", "failure machines.networks"],
  ],
])("inspectMachines() finds %s", async (_what, over, found) => {
  expect(await inspect(over)).toEqual([...found]);
});

test("inspectMachines() names the privilege that is missing", async () => {
  const api = {
    list: async () => ({ objects: [{ id: "x" }] }),
    readUserId: async () => "u",
    readRights: async () => less,
  } as unknown as MachinesApi;
  const findings = await inspectMachines({ api, session, isManaged: false }, signal);
  expect(findings.at(-1)?.message).toBe(
    "Machines: the user lacks the privilege vif create, to connect VMs to networks",
  );
});

test("inspectMachines() says once that a user has no right at all, and which role it needs", async () => {
  const api = {
    list: async () => ({ objects: [{ id: "x" }] }),
    readUserId: async () => "u",
    readRights: async () => [],
  } as unknown as MachinesApi;
  const findings = await inspectMachines({ api, session, isManaged: false }, signal);
  expect(findings.filter(({ level }) => level === "failure")).toEqual([
    {
      level: "failure",
      code: "machines.rights",
      message: "Machines: the user has none of the privileges that making VMs needs",
      advice: "give it the role of deploy/xenorchestra/vino-role.json",
    },
  ]);
});

test("inspectMachines() asks about boot orders only if clients manage machines, and of no administrator", async () => {
  await expect(inspect({}, true)).rejects.toThrow("asked by JSON-RPC");
  expect(await inspect({})).toEqual([]);
  expect(await inspect({ readRights: async () => "all" }, true)).toEqual([]);
});

test("inspectMachines() says that a privilege to read has a selector", async () => {
  const narrow = ALL.map((one) =>
    formatPrivilege(one) === "vm read" ? { ...one, selector: "tags:x" } : one,
  );
  const api = {
    list: async () => ({ objects: [{ id: "x" }] }),
    readUserId: async () => "u",
    readRights: async () => narrow,
  } as unknown as MachinesApi;
  expect((await inspectMachines({ api, session, isManaged: false }, signal)).at(-1)).toMatchObject({
    level: "failure",
    message:
      "Machines: the user lacks the privilege vm read for all objects: it has a selector, to see which VMs exist",
    advice: 'remove the selector "tags:x" from this privilege of the role of the user',
  });
});
