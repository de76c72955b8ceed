/**
 * Creates a virtual machine as xo-server does: nine steps, none of which is undone if the process dies, and a rollback
 * if a step fails.
 * @module
 */
import type { XoRecord } from "../../records.ts";
import { toOperation, type Work } from "../backend.ts";
import { destroyMachine } from "../steps/deletion.ts";
import { toRecord } from "../steps/disks.ts";
import { noSuchObject } from "../errors.ts";
import { startVm } from "../steps/power.ts";
import type { CreateBody } from "./body.ts";
import { cloneTemplate } from "./clone.ts";
import { addCloudConfig } from "./cloud_config.ts";
import { applyDisks } from "./disk_steps.ts";
import { applyFields } from "./edit.ts";
import { applyInstall } from "./install.ts";
import { applyInterfaces } from "./interface_steps.ts";

/** Runs the action. @returns the ID of the machine @throws {XoError | XapiError | SocketError} */
export async function createVm(
  work: Work,
  poolId: string,
  body: CreateBody,
): Promise<{ readonly id: string }> {
  const template = findTemplate(work, body.template);
  if (body.affinity !== undefined) work.find("hosts", body.affinity, "host");
  const clone = await cloneTemplate(work, template, body.name_label, body.clone === false);
  try {
    await finish(work, clone, body, { poolId, templateId: String(template["uuid"]) });
  } catch (error) {
    // A process that died rolls nothing back, and forgets the error.
    work.life.throwIfAborted();
    const { state } = work;
    const left = state.all("vms").get(clone.id) ?? state.all("vm-templates").get(clone.id);
    if (left !== undefined) await rollBack(work, left);
    throw error;
  }
  return { id: clone.id };
}

/** Destroys what was made. The first error counts, not one of this. */
async function rollBack(work: Work, machine: XoRecord): Promise<void> {
  const note = (diskIds: readonly string[]): void => {
    for (const id of diskIds) work.backend.rolledBack.add(id);
  };
  await destroyMachine(work, machine, note).catch(() => work.life.throwIfAborted());
}

/** Templates are named by their UUID, even if they have another ID. */
function findTemplate({ state }: Work, uuid: string | undefined): XoRecord {
  const template = state.list("vm-templates").find((one) => one["uuid"] === uuid);
  if (template !== undefined) return template;
  const isOther = uuid !== undefined && state.read("vms", uuid) !== undefined;
  throw noSuchObject(uuid, isOther ? "VM-template" : undefined);
}

async function finish(
  work: Work,
  clone: XoRecord,
  body: CreateBody,
  { poolId, templateId }: { readonly poolId: string; readonly templateId: string },
): Promise<void> {
  const { state } = work;
  await work.call(toOperation("VM.remove_from_other_config", clone), () => undefined);
  await work.call(toOperation("VM.provision", clone, { isAsync: true }), () => {
    state.provision(clone.id);
  });
  const vm = toRecord(state, "vms", clone.id);
  await work.call(toOperation("VM.add_to_other_config", vm), () => {
    const date = new Date(work.backend.clock.now()).toISOString();
    vm["creation"] = { date, template: templateId, user: work.userId };
  });
  await applyFields(work, vm, body);
  if (body.install !== undefined) await applyInstall(work, vm, body.install);
  await applyDisks(work, vm, body.vdis ?? [], poolId);
  await applyInterfaces(work, vm, body.vifs ?? []);
  if (body.createVtpm === true) {
    await work.call(toOperation("VTPM.create", vm), () => {
      vm["VTPMs"] = [state.nextId("vtpm")];
    });
  }
  if (body.cloud_config !== undefined) await addCloudConfig(work, vm, body);
  if (body.boot === true) await startVm(work, vm);
}
