/**
 * What is recorded before and after a creation, and what a step does that was done before.
 * @module
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { MachineStepContext } from "../../../../../lib/cloud/capabilities/machine_record.ts";
import { ALONE, Fence, LeadershipLostError } from "../../../../../lib/core/fence.ts";
import { applyStep } from "../../../../../lib/providers/xenorchestra/machines/apply/apply.ts";
import { parseRecord } from "../../../../../lib/providers/xenorchestra/machines/vm_record.ts";
import type { Change } from "../../../../../lib/providers/xenorchestra/machines/steps.ts";
import {
  formatMark,
  listOwnTags,
} from "../../../../../lib/providers/xenorchestra/machines/words.ts";
import { MachinesApi } from "../../../../../lib/providers/xenorchestra/machines/wire/machines_api.ts";
import { Session } from "../../../../../lib/providers/xenorchestra/session/session.ts";
import { XenOrchestraApi } from "../../../../../lib/providers/xenorchestra/wire/api.ts";
import { toDeps, toSettings } from "../../fake_server.ts";
import { OwnChanges } from "../../../../../lib/providers/xenorchestra/machines/wire/own_changes.ts";
import { Rig } from "../rig.ts";
import { IDENTITY } from "../scene.ts";

const signal = new AbortController().signal;
let rig: Rig;
let saved: (string | undefined)[];

beforeEach(async () => {
  rig = await Rig.start();
  saved = [];
});
afterEach(() => rig.stop());

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
      Array.from({ length: records }, () => ({ task: "t", doubtAt: expect.any(Number) })),
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
