/**
 * What is recorded before and after a creation, and what a step does that was done before.
 * @module
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { MachineStepContext } from "../../../../../lib/cloud/capabilities/machines.ts";
import { ALONE, Fence, LeadershipLostError } from "../../../../../lib/core/fence.ts";
import {
  applyStep,
  explainRefusal,
} from "../../../../../lib/providers/xenorchestra/machines/apply/apply.ts";
import { parseRecord } from "../../../../../lib/providers/xenorchestra/machines/vm_record.ts";
import type { Change } from "../../../../../lib/providers/xenorchestra/machines/steps.ts";
import {
  formatMark,
  listOwnTags,
} from "../../../../../lib/providers/xenorchestra/machines/words.ts";
import { MachinesApi } from "../../../../../lib/providers/xenorchestra/machines/wire/machines_api.ts";
import { Session } from "../../../../../lib/providers/xenorchestra/session/session.ts";
import { XenOrchestraApi } from "../../../../../lib/providers/xenorchestra/client.ts";
import { toDeps, toSettings } from "../../fake_server.ts";
import { OwnChanges } from "../../../../../lib/providers/xenorchestra/machines/wire/own_changes.ts";
import { Rig } from "../rig.ts";
import { IDENTITY, NAME } from "../scene.ts";
import {
  checkFinished,
  checkGone,
  checkHalfMade,
  checkOrphan,
} from "../../../../../lib/providers/xenorchestra/machines/apply/checks.ts";
import { RefusedMachineError } from "../../../../../lib/cloud/capabilities/refused_errors.ts";
import { ChangeRefusal } from "../../../../../lib/providers/xenorchestra/machines/wire/changes.ts";

const signal = new AbortController().signal;
let rig: Rig;
let saved: (string | undefined)[];

async function apply(change: Change, over: Partial<MachineStepContext> = {}): Promise<void> {
  const deps = toDeps();
  const { url, token } = rig.simulator;
  const session = new Session(toSettings(url, { token }), deps);
  const own = new OwnChanges(deps.clock);
  const api = new MachinesApi(new XenOrchestraApi(session, deps.metrics), session, own);
  const record = {
    text: undefined,
    save: async (text: string | undefined) => void saved.push(text),
  };
  const context = { record, fence: new Fence(ALONE), ...over };
  const step = { summary: "do it", identity: IDENTITY, change };
  await applyStep({ api, session, own, clock: deps.clock }, step, { context, signal });
}

function toCreate(template: string): Change {
  const body = {
    template,
    name_label: "vino-1b4e28ba-worker-0",
    name_description: "",
    cpus: 1,
    memory: 4 * 1024 ** 3,
    affinity: rig.site.hostIds["xcp-par-2"],
    boot: false,
    clone: true,
    vifs: [],
    vdis: [],
  } as const;
  const record = { tries: 1 };
  return { kind: "create", poolId: rig.site.poolIds.paris, body, record };
}

describe("applyStep()", () => {
  beforeEach(async () => {
    rig = await Rig.start();
    saved = [];
  });
  afterEach(() => rig.stop());

  test("records an attempt before it asks, and the task after", async () => {
    await apply(toCreate(rig.site.templateIds.debian));
    const [before, after] = saved.map(parseRecord);
    expect(before).toMatchObject({ tries: 1, at: expect.any(Number) });
    expect(before?.task).toBeUndefined();
    expect(after).toMatchObject({ at: before?.at, task: expect.any(String) });
  });

  test.each([
    ["records a doubt when the answer to an upload is lost", { kind: "resetAfter" }, 1],
    ["records none after a refusal", { kind: "status", status: 403 }, 0],
  ] as const)("%s", async (_title, fault, records) => {
    rig.simulator.faults.set(fault, { route: "POST /srs/{id}/vdis" });
    const { foreign, srIds } = rig.site;
    const seed = { label: "cidata", files: { "user-data": "x" } };
    const place = {
      vmId: foreign.vmId,
      poolId: rig.site.poolIds.paris,
      storageId: srIds.local,
      position: "3",
    };
    const attached = apply({ kind: "attachSeed", ...place, seed, record: { task: "t" } });
    await expect(attached).rejects.toThrow();
    expect(saved.map(parseRecord)).toEqual(
      Array.from({ length: records }, () => ({
        task: "t",
        doubtAt: expect.any(Number),
        uploadAt: expect.any(Number),
      })),
    );
  });

  test.each([
    ["names the disks of a half-made machine before it deletes it", false],
    ["deletes it although it has no right to name them", true],
  ])("%s", async (_title, isLimited) => {
    await apply(toCreate(rig.site.templateIds.debian));
    await rig.clock.advance(1_000);
    const [vm] = rig.vms(IDENTITY);
    const disks = rig
      .list("vdis")
      .filter(({ $VBDs }) => Object($VBDs)[0] === Object(vm?.["$VBDs"])[0]);
    const [disk] = disks;
    if (isLimited) {
      rig.simulator.faults.set({ kind: "status", status: 403 }, { route: "PATCH /vdis/{id}" });
    }
    // The machine is deleted, its disk is not.
    const fault = { kind: "fail", code: "BUSY" } as const;
    rig.simulator.cloud.hypervisor.faults.set(fault, { method: "VDI.destroy" });
    const thing = { id: String(vm?.id), kind: "vm", poolId: rig.site.poolIds.paris } as const;
    const inherited = disks.map(({ id }) => id);
    const userId = String(Object(vm?.["creation"]).user);
    const record = { at: 7, refused: true };
    await apply({ kind: "deleteHalfMade", thing, inherited, userId, record });
    expect(rig.vms(IDENTITY)).toEqual([]);
    expect(parseRecord(saved.at(-1))).toEqual(record);
    expect(disk).toMatchObject({
      $VBDs: [],
      name_label: isLimited ? "debian-root" : "vino-1b4e28ba-worker-0.:left",
    });
  });

  test.each([
    ["deletes no VM that gets a disk while its protection is lifted", true],
    ["deletes a VM whose protection was lifted", false],
  ])("%s", async (_title, isAttached) => {
    await apply(toCreate(rig.site.templateIds.debian));
    await rig.clock.advance(1_000);
    const [vm] = rig.vms(IDENTITY);
    if (vm === undefined) throw new Error("there is no VM");
    vm["name_description"] = formatMark(IDENTITY, {}, true);
    vm["tags"] = listOwnTags(IDENTITY);
    const linkIds = rig.list("vbds").flatMap((vbd) => (vbd["VM"] === vm.id ? [vbd.id] : []));
    const attach = (): void => void (vm["$VBDs"] = [...linkIds, "of others"]);
    const { moments } = rig.simulator.cloud.hypervisor;
    const scope = { method: "VM.set_blockedOperations", times: 1 };
    if (isAttached) moments.set("before", { ...scope, onHit: attach });
    const record = { refused: true };
    const poolId = rig.site.poolIds.paris;
    const deleted = apply({ kind: "deleteVm", vmId: vm.id, poolId, linkIds, record });
    if (isAttached) await expect(deleted).rejects.toThrow("has another disk");
    else await deleted;
    expect(rig.vms(IDENTITY)).toHaveLength(isAttached ? 1 : 0);
  });

  test("asks for nothing if the record cannot be saved", async () => {
    const save = async (): Promise<void> => {
      throw new Error("Kubernetes is away");
    };
    const create = apply(toCreate(rig.site.templateIds.debian), {
      record: { text: undefined, save },
    });
    await expect(create).rejects.toThrow("Kubernetes is away");
    expect(rig.simulator.requests.count("POST /pools/{id}/actions/create_vm")).toBe(0);
  });

  test("records that an answer never came by recording nothing more", async () => {
    rig.simulator.faults.set(
      { kind: "resetAfter" },
      { route: "POST /pools/{id}/actions/create_vm" },
    );
    await expect(apply(toCreate(rig.site.templateIds.debian))).rejects.toThrow();
    expect(saved).toHaveLength(1);
  });

  test("records a refusal, after which nothing was made", async () => {
    const body = { error: "no such pool", data: { id: "p", type: "pool" } };
    rig.simulator.faults.set(
      { kind: "json", status: 404, body },
      { route: "POST /pools/{id}/actions/create_vm" },
    );
    await expect(apply(toCreate("x"))).rejects.toThrow("no such pool");
    expect(parseRecord(saved.at(-1)).refused).toBe(true);
  });

  test("changes nothing without the lead", async () => {
    const create = apply(toCreate(rig.site.templateIds.debian), { fence: new Fence() });
    await expect(create).rejects.toBeInstanceOf(LeadershipLostError);
    expect(rig.list("vm-templates").map(({ id }) => id)).toHaveLength(5);
  });

  test("starts and switches off what is so already without an error", async () => {
    const spec = rig.spec({ isStarted: false });
    await rig.make(spec);
    const vmId = rig.vm(spec).id;
    const hostId = rig.site.hostIds["xcp-par-1"];
    await apply({ kind: "start", vmId, hostId });
    await apply({ kind: "start", vmId, hostId });
    expect(rig.vm(spec)).toMatchObject({ power_state: "Running", $container: hostId });
    await apply({ kind: "shutdown", vmId, isHard: true, record: {} });
    await apply({ kind: "shutdown", vmId, isHard: true, record: {} });
    expect(rig.vm(spec)).toMatchObject({ power_state: "Halted" });
  });
});

const VM = {
  id: "v",
  $pool: "p",
  name_label: NAME,
  name_description: formatMark(IDENTITY, {}, false),
  power_state: "Halted",
  $VBDs: ["l"],
  creation: { user: "u" },
};
const OF_ANOTHER = { name_description: "", tags: ["vino:uid=another"] };
const thing = { id: "v", kind: "vm", poolId: "p" } as const;
const asked = { name: NAME, signal };

function createApi(over: object = {}): MachinesApi {
  const answers = { vm: VM, tasks: [], pool: { id: "p" }, disk: undefined, ...over } as Record<
    string,
    unknown
  >;
  const read = (key: string) => async () =>
    answers[key] === undefined ? { kind: "missing" } : { kind: "found", value: answers[key] };
  return {
    readVm: read("vm"),
    readTemplate: read("template"),
    readPool: read("pool"),
    readDisk: read("disk"),
    listTasks: async () => answers["tasks"],
  } as unknown as MachinesApi;
}

describe("checkHalfMade()", () => {
  const change = { kind: "deleteHalfMade", thing, inherited: [], userId: "u" } as const;

  test("finds a VM and a template that are still half-made, and nothing that is gone", async () => {
    expect(await checkHalfMade(createApi(), change, asked)).toMatchObject({ id: "v" });
    expect(await checkHalfMade(createApi({ vm: undefined }), change, asked)).toBeUndefined();
    const template = { ...change, thing: { ...thing, kind: "template" } } as const;
    const api = createApi({ template: VM });
    expect(await checkHalfMade(api, template, asked)).toMatchObject({ id: "v" });
  });

  const pending = [{ id: "t", status: "pending", properties: { args: { name_label: NAME } } }];
  test.each<[string, object]>([
    ["a task makes it", { tasks: pending }],
    ["tasks cannot be seen", { tasks: undefined }],
    ["it has another name", { vm: { ...VM, name_label: "web" } }],
    ["it runs", { vm: { ...VM, power_state: "Running" } }],
    ["it was started", { vm: { ...VM, startTime: 5 } }],
    ["it is busy", { vm: { ...VM, current_operations: { a: "clone" } } }],
    ["it has a snapshot", { vm: { ...VM, snapshots: ["s"] } }],
    ["it is complete", { vm: { ...VM, tags: ["vino:ready=x"] } }],
    ["it was complete", { vm: { ...VM, name_description: formatMark(IDENTITY, {}, true) } }],
    ["another user made it", { vm: { ...VM, creation: { user: "other" } } }],
    ["it is in another pool", { vm: { ...VM, $pool: "q" } }],
    ["its pool is lost", { pool: undefined }],
  ])("refuses because %s", async (_what, over) => {
    await expect(checkHalfMade(createApi(over), change, asked)).rejects.toThrow("changed nothing");
  });

  test("refuses a default template", async () => {
    const change2 = { ...change, thing: { ...thing, kind: "template" } } as const;
    const api = createApi({ template: { ...VM, isDefaultTemplate: true } });
    await expect(checkHalfMade(api, change2, asked)).rejects.toThrow("default template");
  });
});

describe("checkGone()", () => {
  const earlier = { vmIds: ["v"], poolId: "p" };
  const question = { identity: IDENTITY, signal };
  const renamed = { ...VM, name_label: "mine" };

  test.each<[string, object]>([
    ["does not exist", { vm: undefined }],
    ["was renamed and lost its marks", { vm: { ...renamed, name_description: "" } }],
    ["has another name and the tag of another Vino", { vm: { ...renamed, ...OF_ANOTHER } }],
  ])("lets a VM be gone that %s", async (_what, over) => {
    expect(await checkGone(createApi(over), earlier, question)).toBeUndefined();
  });

  test.each<[string, object, string]>([
    ["its name is still there", {}, "does not list it"],
    ["it was renamed and has its mark", { vm: renamed }, "name it vino-1b4e28ba-worker-0 again"],
    [
      "it was renamed and has the tag of its Vino",
      { vm: { ...renamed, name_description: "", tags: listOwnTags(IDENTITY) } },
      "name it vino-1b4e28ba-worker-0 again",
    ],
    ["its pool is lost", { vm: undefined, pool: undefined }, "is not connected any more"],
  ])("refuses because %s", async (_what, over, why) => {
    await expect(checkGone(createApi(over), earlier, question)).rejects.toThrow(why);
  });
});

describe("checkFinished()", () => {
  const record = { vm: "v" };
  const change = { kind: "deleteVm", vmId: "v", poolId: "p", linkIds: ["l"], record } as const;
  const of = { identity: IDENTITY, signal };

  test("says whether it exists", async () => {
    expect(await checkFinished(createApi(), change, of)).toBe(true);
    expect(await checkFinished(createApi({ vm: undefined }), change, of)).toBe(false);
  });

  test.each<[string, object]>([
    ["it runs again", { vm: { ...VM, power_state: "Running" } }],
    ["it has lost its mark", { vm: { ...VM, name_description: "" } }],
    ["it has another disk", { vm: { ...VM, $VBDs: ["l", "m"] } }],
    ["it is in another pool", { vm: { ...VM, $pool: "q" } }],
    ["its pool is lost", { pool: undefined }],
  ])("refuses because %s", async (_what, over) => {
    await expect(checkFinished(createApi(over), change, of)).rejects.toThrow("changed nothing");
  });
});

describe("checkOrphan()", () => {
  const change = { kind: "deleteDisk", diskId: "d", diskName: `${NAME}.root` } as const;
  const disk = { id: "d", name_label: `${NAME}.root`, size: 1, $pool: "p", $VBDs: [] };

  test("says whether it exists", async () => {
    expect(await checkOrphan(createApi({ disk }), change, signal)).toBe(true);
    expect(await checkOrphan(createApi(), change, signal)).toBe(false);
  });

  test.each<[string, object]>([
    ["it is attached", { disk: { ...disk, $VBDs: ["l"] } }],
    ["it has another name", { disk: { ...disk, name_label: "x" } }],
    ["its pool is lost", { disk, pool: undefined }],
  ])("refuses because %s", async (_what, over) => {
    await expect(checkOrphan(createApi(over), change, signal)).rejects.toThrow("changed nothing");
  });
});

const start = { kind: "start", vmId: "v", hostId: "h" } as const;
const seed = { label: "cidata", files: { "user-data": "s3cret" } };
const attach = {
  kind: "attachSeed",
  vmId: "v",
  poolId: "p",
  storageId: "s",
  position: "2",
  seed,
  record: {},
} as const;
const toStep = (change: typeof start | typeof attach) => ({
  summary: "do it",
  identity: IDENTITY,
  change,
});

test.each<[string, string, ConstructorParameters<typeof ChangeRefusal>[2]]>([
  ["NoRoom", "retry", { code: "HOST_NOT_ENOUGH_FREE_MEMORY" }],
  ["HostNotUsable", "retry", { code: "HOST_DISABLED" }],
  ["StorageFull", "retry", { code: "SR_BACKEND_FAILURE_44" }],
  ["NoRight", "decision", { missing: ["vm start"] }],
  ["OperationBlocked", "decision", { isBlocked: true }],
])("explainRefusal() says %s", (reason, kind, why) => {
  const error = explainRefusal(new ChangeRefusal("protocol", "no", why), toStep(start));
  expect(error).toBeInstanceOf(RefusedMachineError);
  expect(error).toMatchObject({ problem: { reason, kind } });
});

test("explainRefusal() leaves other errors as they are", () => {
  const other = new ChangeRefusal("protocol", "no", { code: "ODD" });
  expect(explainRefusal(other, toStep(start))).toBe(other);
  const bug = new RangeError("x");
  expect(explainRefusal(bug, toStep(start))).toBe(bug);
});

test("explainRefusal() says that a seed does not fit, and shows nothing of it", () => {
  const error = explainRefusal(new RangeError("the files do not fit"), toStep(attach));
  expect(error).toMatchObject({ problem: { reason: "SeedNotUsable", kind: "decision" } });
  expect(String(error)).not.toContain("s3cret");
});
