/**
 * Asks Xen Orchestra once more, right before something is deleted or made again.
 * @module
 */
import { type MachineIdentity, toMachineName } from "../../../../cloud/capabilities/machines.ts";
import { RefusedMachineError } from "../../../../cloud/capabilities/refused_errors.ts";
import { CloudError } from "../../../../cloud/errors.ts";
import { toDisk, toTasks } from "../observe/resources.ts";
import { type Vm, isComplete, toTemplate, toVm } from "../observe/observation.ts";
import { judgeOwner } from "../plan/find.ts";
import { toHiddenVm } from "../plan/problems.ts";
import type { ChangeOf, EarlierVms } from "../steps.ts";
import type { MachinesApi } from "../wire/machines_api.ts";

/**
 * Checks that something is still half-made, that no task makes it, and that its pool is connected.
 *
 * @returns It; `undefined` if it does not exist any more
 * @throws {CloudError} if it is not, or there is no answer: the next plan sees what is new
 */
export async function checkHalfMade(
  api: MachinesApi,
  { thing, userId }: ChangeOf<"deleteHalfMade">,
  { name, signal }: { readonly name: string; readonly signal: AbortSignal },
): Promise<Vm | undefined> {
  const tasks = await api.listTasks(`/^${name}$/`, signal);
  if (tasks === undefined) throw toChanged("tasks cannot be seen any more");
  const creations = toTasks(tasks).get(name) ?? [];
  if (creations.some(({ status }) => status === "pending")) throw toChanged(`a task makes ${name}`);
  const vm = await readThing(api, thing, signal);
  if (vm === undefined) return undefined;
  const user = vm.creation?.user;
  const isStill =
    vm.name === name &&
    vm.poolId === thing.poolId &&
    vm.power === "stopped" &&
    !vm.isStarted &&
    !vm.isBusy &&
    !vm.hasSnapshots &&
    !isComplete(vm) &&
    vm.mark?.isReady !== true &&
    (user === undefined || user === userId);
  if (!isStill) throw toChanged(`${thing.kind} ${thing.id} is not half-made any more`);
  await checkPool(api, thing.poolId, signal);
  return vm;
}

/**
 * Checks that VMs that a machine had are gone, before another one is made or its addresses are free: a list that does
 * not show them may only hide them.
 *
 * @throws {RefusedMachineError} if one still exists, {@linkcode CloudError} if that is not clear
 */
export async function checkGone(
  api: MachinesApi,
  { vmIds, poolId }: EarlierVms,
  question: { readonly identity: MachineIdentity; readonly signal: AbortSignal },
): Promise<void> {
  const { identity, signal } = question;
  for (const id of vmIds) {
    if (!(await isGone(api, id, question))) throw toHidden(toMachineName(identity), id);
  }
  // Of a lost pool, no VM is there.
  if (vmIds.length > 0 && poolId !== undefined) await checkPool(api, poolId, signal);
}

async function isGone(
  api: MachinesApi,
  id: string,
  { identity, signal }: { readonly identity: MachineIdentity; readonly signal: AbortSignal },
): Promise<boolean> {
  try {
    const read = await api.readVm(id, signal);
    if (read.kind === "undecodable") throw toChanged(`VM ${id} cannot be read: ${read.problem}`);
    if (read.kind === "missing") return true;
    const vm = toVm(read.value);
    const name = toMachineName(identity);
    if (vm.name === name) return false;
    // Who renames a VM and takes its marks away keeps it for something else.
    if (judgeOwner(vm, identity) !== "ours") return true;
    throw toChanged(`VM ${id} was renamed, and has the marks of ${name}; name it ${name} again`);
  } catch (error) {
    // Of a VM that does not exist, the answer is 404.
    if (error instanceof CloudError && error.status === 403) return false;
    throw error;
  }
}

function toHidden(name: string, id: string): RefusedMachineError {
  const problem = toHiddenVm(name, id);
  const cause = new CloudError("denied", problem.message, { status: 403 });
  return new RefusedMachineError(problem, cause);
}

async function readThing(
  api: MachinesApi,
  { kind, id }: ChangeOf<"deleteHalfMade">["thing"],
  signal: AbortSignal,
): Promise<Vm | undefined> {
  if (kind === "vm") {
    const vm = await api.readVm(id, signal);
    if (vm.kind === "found") return toVm(vm.value);
    if (vm.kind === "missing") return undefined;
    throw toChanged(`VM ${id} cannot be read: ${vm.problem}`);
  }
  const template = await api.readTemplate(id, signal);
  if (template.kind === "missing") return undefined;
  if (template.kind !== "found") throw toChanged(`template ${id} cannot be read`);
  const read = toTemplate(template.value);
  if (read.isDefault) throw toChanged(`template ${id} is a default template`);
  return read;
}

/**
 * Checks that a VM is still ours, off, and without disks that a plan did not see.
 *
 * @returns Whether it exists
 * @throws {CloudError} if it is not, or there is no answer
 */
export async function checkFinished(
  api: MachinesApi,
  { vmId, poolId, linkIds }: ChangeOf<"deleteVm">,
  { identity, signal }: { readonly identity: MachineIdentity; readonly signal: AbortSignal },
): Promise<boolean> {
  const read = await api.readVm(vmId, signal);
  if (read.kind === "missing") return false;
  if (read.kind !== "found") throw toChanged(`VM ${vmId} cannot be read: ${read.problem}`);
  const vm = toVm(read.value);
  const isStill =
    judgeOwner(vm, identity) === "ours" &&
    vm.power === "stopped" &&
    vm.poolId === poolId &&
    !vm.isBusy;
  if (!isStill) throw toChanged(`VM ${vmId} is not as it was`);
  if (vm.linkIds.some((id) => !linkIds.includes(id)))
    throw toChanged(`VM ${vmId} has another disk`);
  await checkPool(api, poolId, signal);
  return true;
}

/** Checks that a disk has its name and that nothing uses it. @returns Whether it exists. @throws as above */
export async function checkOrphan(
  api: MachinesApi,
  { diskId, diskName }: ChangeOf<"deleteDisk">,
  signal: AbortSignal,
): Promise<boolean> {
  const read = await api.readDisk(diskId, signal);
  if (read.kind === "missing") return false;
  if (read.kind !== "found") throw toChanged(`disk ${diskId} cannot be read: ${read.problem}`);
  const { name, links, poolId } = toDisk(read.value);
  if (name !== diskName || links > 0) throw toChanged(`disk ${diskId} is in use`);
  await checkPool(api, poolId, signal);
  return true;
}

async function checkPool(api: MachinesApi, poolId: string, signal: AbortSignal): Promise<void> {
  const pool = await api.readPool(poolId, signal);
  if (pool.kind !== "found") throw toChanged(`pool ${poolId} is not connected any more`);
}

/** Something is not as the plan saw it. Nothing was changed, and the next observation shows what is new. */
export class OutdatedPlanError extends CloudError {}

function toChanged(what: string): OutdatedPlanError {
  const message = `Landfall changed nothing, and looks again: ${what}`;
  return new OutdatedPlanError("unreachable", message);
}
