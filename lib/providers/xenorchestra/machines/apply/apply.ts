/**
 * Carries out one step.
 *
 * What destroys something asks Xen Orchestra once more, right before: a plan may be some seconds old, and a person or
 * a task may have been faster.
 * @module
 */
import {
  type MachineProblem,
  type MachineStepContext,
  toMachineName,
} from "../../../../cloud/capabilities/machines.ts";
import { RefusedMachineError } from "../../../../cloud/capabilities/refused_errors.ts";
import { CloudError } from "../../../../cloud/errors.ts";
import { toSeedImage } from "../../../../cloud/seed_image.ts";
import type { Clock } from "../../../../core/clock.ts";
import { checkFinished, checkGone, checkHalfMade, checkOrphan } from "./checks.ts";
import type { Vm } from "../observe/observation.ts";
import { ROLE_PATH } from "../privileges.ts";
import type { ChangeOf, Step } from "../steps.ts";
import { type VmRecord, formatRecord } from "../vm_record.ts";
import { ChangeRefusal, Changes, isAlready } from "../wire/changes.ts";
import type { MachinesApi } from "../wire/machines_api.ts";
import type { OwnChanges } from "../wire/own_changes.ts";
import { LEFT_DISK, SEED_DISK, formatDiskMark, toDiskName } from "../words.ts";
import type { Session } from "../../session/session.ts";

/** What carrying out steps needs. */
interface ApplyOptions {
  readonly api: MachinesApi;
  readonly session: Pick<Session, "change">;
  readonly own: OwnChanges;
  readonly clock: Clock;
}

/** One step that is being carried out. */
interface Acting {
  readonly api: MachinesApi;
  readonly changes: Changes;
  readonly clock: Clock;
  readonly step: Step;
  readonly signal: AbortSignal;
  /** Saves the record. */
  readonly save: (record: VmRecord) => Promise<void>;
}

/** Statuses of refusals after which nothing was made. */
const NOTHING_MADE: ReadonlySet<number> = new Set([403, 404, 422]);

/** Carries out a step. @throws as `Machines.apply` */
export async function applyStep(
  { api, session, own, clock }: ApplyOptions,
  step: Step,
  { context, signal }: { readonly context: MachineStepContext; readonly signal: AbortSignal },
): Promise<void> {
  const changes = new Changes({ session, own, fence: context.fence, signal });
  const save = (record: VmRecord): Promise<void> =>
    context.record.save(formatRecord(record), signal);
  try {
    await act({ api, changes, clock, step, signal, save });
  } catch (error) {
    throw explainRefusal(error, step);
  }
}

async function act(acting: Acting): Promise<void> {
  const { changes, step, save, api, signal } = acting;
  const { change, identity } = step;
  switch (change.kind) {
    case "create":
      return await create(change, acting);
    case "proveGone":
      await checkGone(api, change.earlier, { identity, signal });
      return await save({ ...change.record, gone: true });
    case "deleteHalfMade": {
      const thing = await checkHalfMade(api, change, { name: toMachineName(identity), signal });
      if (thing === undefined) return;
      await deleteThing(change, thing, acting);
      if (change.record !== undefined) await save(change.record);
      return;
    }
    case "deleteDisk":
      if (await checkOrphan(api, change, signal)) await changes.deleteDisk(change.diskId);
      return;
    case "patchVm":
      return await changes.patchVm(change.vmId, change.fields);
    case "patchDisk":
      return await changes.patchDisk(change.diskId, change.fields);
    case "renameDisk":
      return await changes.renameDisk(change.diskId, change.fields);
    case "addInterface": {
      const { vmId, networkId, mac: MAC, device, mtu: MTU } = change;
      return await changes.addInterface({ vmId, networkId, MAC, device, ...(MTU && { MTU }) });
    }
    case "addDisk":
      return await addDisk(change, acting);
    case "attachSeed":
      return await attachSeed(change, acting);
    case "ready":
      return await markReady(change, acting);
    case "saveRecord":
      return await save(change.record);
    case "start":
      return await start(change, changes);
    case "addTag":
      return await changes.addTag(change.vmId, change.tag);
    case "removeTag":
      return await changes.removeTag(change.vmId, change.tag);
    case "shutdown":
      await save(change.record);
      return await shutDown(change, changes);
    case "detachDisk":
      return await changes.detachDisk(change);
    case "deleteVm":
      return await deleteVm(change, acting);
  }
}

/** Asks for a VM. The record says so before, and names the task after. */
async function create(change: ChangeOf<"create">, { changes, clock, save }: Acting): Promise<void> {
  const record = { ...change.record, at: clock.now() };
  await save(record);
  try {
    const task = await changes.createVm(change.poolId, change.body);
    await save({ ...record, task });
  } catch (error) {
    const isRefused = error instanceof ChangeRefusal && NOTHING_MADE.has(error.status ?? 0);
    if (isRefused) await save({ ...record, refused: true });
    throw error;
  }
}

/** Deletes something half-made. Its disks first get names by which they are found if only the record goes. */
async function deleteThing(
  { thing, inherited }: ChangeOf<"deleteHalfMade">,
  { id, destroyBlock }: Pick<Vm, "id" | "destroyBlock">,
  { changes, step }: Pick<Acting, "changes" | "step">,
): Promise<void> {
  const { identity } = step;
  const fields = {
    name_label: toDiskName(toMachineName(identity), LEFT_DISK),
    name_description: formatDiskMark(identity, LEFT_DISK),
  };
  for (const diskId of inherited) await changes.renameDisk(diskId, fields);
  if (thing.kind === "template") return await changes.deleteTemplate(id);
  if (destroyBlock !== undefined) {
    await changes.patchVm(id, { blockedOperations: { destroy: null } });
  }
  await changes.deleteVm(id);
}

/** Xen Orchestra knows a disk that it made only some 200 ms later. */
const DISK_LAG_MS = 250;
const DISK_TRIES = 4;

/** Its description follows last: a disk without one was never used. */
async function addDisk(
  change: ChangeOf<"addDisk">,
  { changes, clock, save, signal }: Acting,
): Promise<void> {
  const { vmId, poolId, storageId, sizeBytes, position, names, record } = change;
  if (change.diskId === undefined) await save(record);
  const storage = { id: storageId, poolId };
  const disk = { name: names.name_label, sizeBytes };
  const diskId = change.diskId ?? (await changes.makeDisk(storage, disk));
  for (let tries = 1; ; tries += 1) {
    try {
      await changes.attachDisk(vmId, diskId, { position, mode: "RW" });
      break;
    } catch (error) {
      const isLate = error instanceof ChangeRefusal && error.isMissing;
      if (!isLate || tries === DISK_TRIES) throw error;
    }
    await clock.sleep(DISK_LAG_MS, signal);
  }
  await changes.patchDisk(diskId, names);
}

/** Uploads the seed, and attaches it. A crash in between leaves a disk that nothing uses: it is deleted later. */
async function attachSeed(change: ChangeOf<"attachSeed">, acting: Acting): Promise<void> {
  const { changes, clock, save, step } = acting;
  const { identity } = step;
  const name = toDiskName(toMachineName(identity), SEED_DISK);
  const description = formatDiskMark(identity, SEED_DISK);
  const bytes = toSeedImage(change.seed);
  const storage = { id: change.storageId, poolId: change.poolId };
  try {
    const id = await changes.uploadDisk(storage, { name, description }, bytes);
    await changes.attachDisk(change.vmId, id, { position: change.position, mode: "RO" });
  } catch (error) {
    // A proxy may have held the request back: then another disk comes later.
    const isUnclear = error instanceof CloudError && !(error instanceof ChangeRefusal);
    const now = clock.now();
    if (isUnclear) await save({ ...change.record, doubtAt: now, uploadAt: now });
    throw error;
  }
}

/** Of several fields the server may write any. Each of them alone leads on to the others. */
async function markReady(change: ChangeOf<"ready">, { changes, save }: Acting): Promise<void> {
  await changes.patchVm(change.vmId, change.fields);
  await save(change.record);
}

async function start({ vmId, hostId }: ChangeOf<"start">, changes: Changes): Promise<void> {
  try {
    await changes.act(vmId, "start", { waits: true, hostId });
  } catch (error) {
    if (!isAlready(error, "running")) throw error;
  }
}

async function shutDown({ vmId, isHard }: ChangeOf<"shutdown">, changes: Changes): Promise<void> {
  try {
    // The guest may take minutes, or never do it.
    if (!isHard) return await changes.act(vmId, "clean_shutdown", { waits: false });
    await changes.act(vmId, "hard_shutdown", { waits: true });
  } catch (error) {
    if (!isAlready(error, "halted")) throw error;
  }
}

async function deleteVm(change: ChangeOf<"deleteVm">, acting: Acting): Promise<void> {
  const { api, changes, step, save, signal } = acting;
  const question = { identity: step.identity, signal };
  if (!(await checkFinished(api, change, question))) return;
  await save(change.record);
  await changes.patchVm(change.vmId, { blockedOperations: { destroy: null } });
  // A hypervisor takes its time, and a disk that a person attached meanwhile would go, too.
  if (!(await checkFinished(api, change, question))) return;
  await changes.deleteVm(change.vmId);
  await save({ ...change.record, gone: true });
}

/** What the hypervisor's words mean, and what to do. */
const WORDS: Readonly<Record<string, readonly [reason: string, advice: string]>> = {
  HOST_NOT_ENOUGH_FREE_MEMORY: ["NoRoom", "the host has too little free memory: make room on it"],
  NO_HOSTS_AVAILABLE: ["NoRoom", "no host can start it: make room, or enable a host"],
  HOST_DISABLED: ["HostNotUsable", "the host is disabled: enable it"],
  HOST_OFFLINE: ["HostNotUsable", "the host is offline: start it"],
  SR_BACKEND_FAILURE_44: ["StorageFull", "the storage is full: make room, or name another one"],
  OTHER_OPERATION_IN_PROGRESS: ["Busy", "another operation runs on it"],
  VM_LACKS_FEATURE: ["NotGraceful", "its guest cannot be asked"],
};

/** Turns an error of a step into one with a problem for operators, if there is one. */
export function explainRefusal(error: unknown, step: Step): unknown {
  if (error instanceof RangeError && step.change.kind === "attachSeed") {
    const message = `Cannot ${step.summary}: ${error.message}`;
    const cause = new CloudError("protocol", message, { cause: error });
    return new RefusedMachineError({ reason: "SeedNotUsable", message, kind: "decision" }, cause);
  }
  if (!(error instanceof ChangeRefusal)) return error;
  const problem = toProblem(error);
  return problem === undefined ? error : new RefusedMachineError(problem, error);
}

function toProblem(error: ChangeRefusal): MachineProblem | undefined {
  const { code, message, missing, isBlocked } = error;
  if (missing.length > 0) {
    const advice = `Give its role what ${ROLE_PATH} has`;
    return { reason: "NoRight", message: `${message}. ${advice}`, kind: "decision" };
  }
  if (isBlocked) return { reason: "OperationBlocked", message, kind: "decision" };
  const [reason, advice] = WORDS[code ?? ""] ?? [];
  if (reason === undefined || advice === undefined) return undefined;
  return { reason, message: `${message}: ${advice}`, kind: "retry" };
}
