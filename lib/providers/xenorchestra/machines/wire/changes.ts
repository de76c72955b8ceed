/**
 * The requests that change machines, and what Xen Orchestra says when it does not carry one out. Each asks the fence
 * right before it is sent, and none is sent twice.
 * @module
 */
import * as v from "valibot";
import { CloudError } from "../../../../cloud/errors.ts";
import type { Reply } from "../../../../cloud_http/client.ts";
import type { Fence } from "../../../../core/fence.ts";
import { shorten } from "../../../../core/text/printable.ts";
import { type Privilege, findPrivilege, formatPrivilege } from "../privileges.ts";
import type { CreateBody, DiskFields, DiskNames, VmFields } from "../steps.ts";
import type { RawVm } from "./objects.ts";
import { type OwnChanges, toChanged, toGone, withText, withoutText } from "./own_changes.ts";
import { toReplyError } from "../../session/reply_error.ts";
import type { ChangeRequest, Session } from "../../session/session.ts";

/** Milliseconds for a change that Xen Orchestra carries out before it answers. */
export const CHANGE_MS = 30_000;
/** Milliseconds for what may need minutes of a storage: a start, a deletion, an upload. */
export const SLOW_MS = 120_000;
/** Milliseconds for a request that is only taken down. */
export const TAKEN_MS = 20_000;

/** Xen Orchestra or the hypervisor refused a change. */
export class ChangeRefusal extends CloudError {
  /** The hypervisor's word: `VM_BAD_POWER_STATE`. Absent: Xen Orchestra refused. */
  readonly code: string | undefined;
  readonly params: readonly string[];
  /** The rights that the user lacks, in words. */
  readonly missing: readonly string[];
  /** Whether a person blocked the operation. */
  readonly isBlocked: boolean;
  /** Whether the object of the request does not exist, as far as Xen Orchestra can see. */
  readonly isMissing: boolean;

  constructor(
    kind: CloudError["kind"],
    message: string,
    why: Partial<
      Pick<ChangeRefusal, "code" | "params" | "missing" | "isBlocked" | "isMissing" | "status">
    > & { readonly retryAfterMs?: number },
  ) {
    const { status, retryAfterMs } = why;
    super(kind, message, {
      ...(status !== undefined && { status }),
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    });
    this.code = why.code;
    this.params = why.params ?? [];
    this.missing = why.missing ?? [];
    this.isBlocked = why.isBlocked ?? false;
    this.isMissing = why.isMissing ?? false;
  }
}

const text = v.optional(v.string());
const BODY = v.object({
  error: v.string(),
  info: text,
  data: v.optional(
    v.object({
      id: text,
      type: text,
      operation: text,
      reason: text,
      missingPrivileges: v.optional(
        v.array(v.object({ action: v.string(), resource: v.string(), objectId: text })),
      ),
    }),
  ),
});
const HYPERVISOR = /^([A-Z][A-Z0-9_]+)\((.*)\)$/s;
const SAID_CHARS_MAX = 200;
const ID_CHARS_MAX = 64;

/**
 * Turns a reply that is no success into an error.
 *
 * A {@linkcode ChangeRefusal} means that an answer came. Of the hypervisor's refusals only those before the first
 * change leave nothing behind.
 *
 * @param what The request, in words: `create VM vino-1b4e28ba-worker-3`
 */
export function toRefusal(reply: Reply, what: string): CloudError {
  const parsed = v.safeParse(BODY, reply.json?.value);
  const { status } = reply;
  if (!parsed.success || status === 401 || status === 429) return toReplyError(reply, what);
  const { error, data } = parsed.output;
  const said = shorten(error, SAID_CHARS_MAX);
  const message = `Xen Orchestra refused to ${what}: ${said}`;
  const [, code, params = ""] = HYPERVISOR.exec(error) ?? [];
  if (code !== undefined) {
    const list = params.split(",").map((one) => one.trim());
    return new ChangeRefusal("protocol", message, { status, code, params: list });
  }
  if (status === 403 && data?.missingPrivileges !== undefined) {
    const missing = [...new Set(data.missingPrivileges.map(describeMissing))];
    const lacks = `the user has no right to ${what}: it lacks ${missing.join(", ")}`;
    return new ChangeRefusal("denied", lacks, { status, missing });
  }
  if (status === 403) {
    const isBlocked = data?.operation !== undefined;
    const why =
      data?.reason === undefined ? said : `${said} (${shorten(data.reason, SAID_CHARS_MAX)})`;
    const blocked = `Xen Orchestra refused to ${what}: ${why}`;
    return new ChangeRefusal("denied", blocked, { status, isBlocked });
  }
  if (status === 404) return new ChangeRefusal("protocol", message, { status, isMissing: true });
  if (status >= 500) return toReplyError(reply, what);
  return new ChangeRefusal("protocol", message, { status });
}

function describeMissing(one: Privilege & { readonly objectId?: string | undefined }): string {
  const on = one.objectId === undefined ? "" : ` on ${shorten(one.objectId, ID_CHARS_MAX)}`;
  // As the role and the documents call it.
  const named = formatPrivilege(findPrivilege(one) ?? one);
  return `${shorten(named, ID_CHARS_MAX)}${on}`;
}

/** Whether the hypervisor refused because a VM is in this state already. */
export function isAlready(error: unknown, state: string): boolean {
  if (!(error instanceof ChangeRefusal) || error.code !== "VM_BAD_POWER_STATE") return false;
  return error.params[2]?.toLowerCase() === state;
}

/** An interface to add. */
interface InterfaceFields {
  readonly vmId: string;
  readonly networkId: string;
  readonly device: string;
  readonly MAC: string;
  readonly MTU?: number;
}

/** A disk of a VM. */
interface DiskLink {
  readonly linkId: string;
  readonly vmId: string;
  /** Absent: not known. */
  readonly diskId?: string;
}

/** What becomes a disk, as it comes. */
interface DiskStream {
  readonly stream: ReadableStream<Uint8Array>;
  readonly length: number;
  /** Milliseconds for all of it. */
  readonly timeoutMs: number;
}

/** An action on the power of a VM. */
export type VmAction =
  | "start"
  | "hard_shutdown"
  | "clean_shutdown"
  | "hard_reboot"
  | "clean_reboot"
  | "pause"
  | "unpause"
  | "resume";

const TASK = v.object({ taskId: v.pipe(v.string(), v.nonEmpty(), v.maxLength(64)) });
const CREATED = v.object({ id: v.pipe(v.string(), v.nonEmpty(), v.maxLength(64)) });

/** Lenient: without it, reads show the new object a moment later. */
const MAYBE_CREATED = v.fallback(v.object({ id: v.optional(v.string()) }), {});

/** What {@linkcode Changes} needs. */
interface ChangesOptions {
  readonly session: Pick<Session, "change">;
  /** Where the answers are noted. */
  readonly own: OwnChanges;
  readonly fence: Pick<Fence, "bind" | "check">;
  readonly signal: AbortSignal;
}

/** Power states after actions that are waited for. */
const POWERS: Readonly<Partial<Record<VmAction, string>>> = {
  start: "Running",
  hard_shutdown: "Halted",
  pause: "Paused",
  unpause: "Running",
  resume: "Running",
};

/** Sends changes. @throws {CloudError} see each method; without an answer the change may have been carried out */
export class Changes {
  readonly #options: ChangesOptions;
  readonly #own: OwnChanges;

  constructor(options: ChangesOptions) {
    this.#options = options;
    this.#own = options.own;
  }

  /** Asks for a VM. @returns The ID of the task that makes it */
  async createVm(poolId: string, body: CreateBody): Promise<string> {
    const reply = await this.#send(`create VM ${body.name_label}`, {
      operation: "create_vm",
      method: "POST",
      path: `/pools/${encodeURIComponent(poolId)}/actions/create_vm`,
      body: { json: body },
      timeoutMs: TAKEN_MS,
      // The record says when it was sent.
      isPrompt: true,
    });
    return read(TASK, reply, "a new VM").taskId;
  }

  /** Changes fields of a VM. */
  async patchVm(id: string, fields: VmFields): Promise<void> {
    await this.#plain("patch_vm", "PATCH", `/vms/${encodeURIComponent(id)}`, fields);
    this.#noteVm(id, (vm) => toPatched(vm, fields));
  }

  /** Adds a tag to a VM. It may have it already. */
  async addTag(vmId: string, tag: string): Promise<void> {
    await this.#plain("add_tag", "PUT", toTagPath(vmId, tag));
    this.#noteVm(vmId, (vm) => ({ ...vm, tags: withText(vm.tags, tag) }));
  }

  /** Removes a tag of a VM. It may not have it. */
  async removeTag(vmId: string, tag: string): Promise<void> {
    await this.#plain("remove_tag", "DELETE", toTagPath(vmId, tag));
    this.#noteVm(vmId, (vm) => ({ ...vm, tags: withoutText(vm.tags, tag) }));
  }

  /** Adds a network interface. */
  async addInterface(fields: InterfaceFields): Promise<void> {
    const id = toMaybeId(await this.#plain("create_vif", "POST", "/vifs", fields));
    if (id === undefined) return;
    const { vmId, networkId: $network, device, MAC, MTU } = fields;
    const made = { id, $VM: vmId, $network, device, MAC, ...(MTU !== undefined && { MTU }) };
    this.#own.note("vifs", id, (vif) => vif ?? made);
    this.#noteVm(vmId, (vm) => ({ ...vm, VIFs: withText(vm.VIFs, id) }));
  }

  /** Makes a disk of these bytes. A stream can be longer than others have time for. @returns Its ID */
  async uploadDisk(
    { id: storageId, poolId: $pool }: { readonly id: string; readonly poolId: string },
    names: { readonly name: string; readonly description: string },
    content: Uint8Array<ArrayBuffer> | DiskStream,
  ): Promise<string> {
    const query = new URLSearchParams({
      raw: "true",
      name_label: names.name,
      name_description: names.description,
    });
    const reply = await this.#send(`upload disk ${names.name}`, {
      operation: "upload_vdi",
      method: "POST",
      path: `/srs/${encodeURIComponent(storageId)}/vdis?${query}`,
      body: content instanceof Uint8Array ? { bytes: content } : content,
      timeoutMs: content instanceof Uint8Array ? SLOW_MS : content.timeoutMs,
    });
    const { id } = read(CREATED, reply, "a new disk");
    const { name: name_label, description: name_description } = names;
    const size = content.length;
    const made = { id, $pool, $SR: storageId, $VBDs: [], name_label, name_description, size };
    this.#own.note("vdis", id, (disk) => disk ?? made);
    return id;
  }

  /** Makes an empty disk. @returns Its ID */
  async makeDisk(
    { id: srId, poolId: $pool }: { readonly id: string; readonly poolId: string },
    { name, sizeBytes }: { readonly name: string; readonly sizeBytes: number },
  ): Promise<string> {
    const body = { srId, virtual_size: sizeBytes, name_label: name };
    const { id } = read(CREATED, await this.#plain("create_vdi", "POST", "/vdis", body), "a disk");
    const made = { id, $pool, $SR: srId, $VBDs: [], name_label: name, size: sizeBytes };
    this.#own.note("vdis", id, (disk) => disk ?? made);
    return id;
  }

  /** Attaches a disk, also to a VM that runs. @param mode `RO`: only for reading */
  async attachDisk(
    vmId: string,
    diskId: string,
    { position, mode }: { readonly position: string; readonly mode: "RO" | "RW" },
  ): Promise<void> {
    const body = { VM: vmId, VDI: diskId, mode, userdevice: position };
    this.#own.noteUse(diskId);
    const id = toMaybeId(await this.#plain("create_vbd", "POST", "/vbds", body));
    if (id === undefined) return;
    const base = { id, VM: vmId, VDI: diskId, position, is_cd_drive: false };
    const made = { ...base, read_only: mode === "RO" };
    this.#own.note("vbds", id, (link) => link ?? made);
    this.#noteVm(vmId, (vm) => ({ ...vm, $VBDs: withText(vm.$VBDs, id) }));
    this.#own.note(
      "vdis",
      diskId,
      toChanged((disk) => ({ ...disk, $VBDs: withText(disk.$VBDs, id) })),
    );
  }

  /** Takes a disk away from its VM. The disk stays. */
  async detachDisk({ linkId, vmId, diskId }: DiskLink): Promise<void> {
    await this.#remove("delete_vbd", `/vbds/${encodeURIComponent(linkId)}`);
    this.#own.note("vbds", linkId, toGone);
    this.#noteVm(vmId, (vm) => ({ ...vm, $VBDs: withoutText(vm.$VBDs, linkId) }));
    if (diskId === undefined) return;
    this.#own.note(
      "vdis",
      diskId,
      toChanged((disk) => ({ ...disk, $VBDs: withoutText(disk.$VBDs, linkId) })),
    );
  }

  /** Names a disk. The right to change disks may be limited to names of ours: then it keeps its name. */
  async renameDisk(id: string, fields: DiskNames): Promise<void> {
    try {
      await this.patchDisk(id, fields);
    } catch (error) {
      if (!(error instanceof ChangeRefusal) || error.status !== 403) throw error;
      this.#own.noteUnnamable(id);
    }
  }

  /** Changes the name or the size of a disk. */
  async patchDisk(id: string, fields: DiskFields): Promise<void> {
    await this.#plain("patch_vdi", "PATCH", `/vdis/${encodeURIComponent(id)}`, fields);
    this.#own.note(
      "vdis",
      id,
      toChanged((disk) => ({ ...disk, ...fields })),
    );
  }

  /** Deletes a disk, or finds that it does not exist. */
  async deleteDisk(id: string): Promise<void> {
    await this.#remove("delete_vdi", `/vdis/${encodeURIComponent(id)}`);
    this.#own.note("vdis", id, toGone);
  }

  /** Deletes a VM with its disks, hard, or finds that it does not exist. */
  async deleteVm(id: string): Promise<void> {
    await this.#remove("delete_vm", `/vms/${encodeURIComponent(id)}`);
    this.#own.note("vms", id, toGone);
  }

  /** Deletes a template with its disks, or finds that it does not exist. */
  async deleteTemplate(id: string): Promise<void> {
    await this.#remove("delete_vm_template", `/vm-templates/${encodeURIComponent(id)}`);
    this.#own.note("vm-templates", id, toGone);
  }

  /**
   * Changes the power of a VM.
   *
   * @param options.waits Whether to wait until it is done. Otherwise it has only begun
   * @throws {ChangeRefusal} with the hypervisor's word
   */
  async act(
    id: string,
    action: VmAction,
    { waits, hostId }: { readonly waits: boolean; readonly hostId?: string },
  ): Promise<void> {
    const query = waits ? "?sync=true" : "";
    await this.#send(`${action.replace("_", " ")} VM ${id}`, {
      operation: `${action}_vm`,
      method: "POST",
      path: `/vms/${encodeURIComponent(id)}/actions/${action}${query}`,
      body: { json: hostId === undefined ? {} : { hostId } },
      timeoutMs: waits ? SLOW_MS : TAKEN_MS,
    });
    const power_state = waits ? POWERS[action] : undefined;
    if (power_state === undefined) return;
    const place = hostId === undefined ? {} : { $container: hostId };
    this.#noteVm(id, (vm) => ({ ...vm, power_state, ...place }));
  }

  #noteVm(id: string, change: (vm: RawVm) => RawVm): void {
    this.#own.note("vms", id, toChanged(change));
  }

  async #plain(
    operation: string,
    method: ChangeRequest["method"],
    path: string,
    json?: object,
  ): Promise<Reply> {
    const request = { operation, method, path, ...(json && { body: { json } }) };
    return await this.#send(`${method} ${path}`, { ...request, timeoutMs: CHANGE_MS });
  }

  async #remove(operation: string, path: string): Promise<void> {
    try {
      await this.#send(`DELETE ${path}`, { operation, method: "DELETE", path, timeoutMs: SLOW_MS });
    } catch (error) {
      if (!(error instanceof ChangeRefusal && error.isMissing)) throw error;
    }
  }

  async #send(what: string, request: ChangeRequest): Promise<Reply> {
    const { session, fence, signal } = this.#options;
    const reply = await session.change(request, fence, signal);
    if (reply.status >= 200 && reply.status < 300) return reply;
    throw toRefusal(reply, what);
  }
}

/** What of a VM a patch changes. */
function toPatched(vm: RawVm, fields: VmFields): RawVm {
  const { nameDescription, tags, cpus, memory, blockedOperations, hvmBootFirmware } = fields;
  return {
    ...vm,
    ...(nameDescription !== undefined && { name_description: nameDescription }),
    ...(tags !== undefined && { tags }),
    ...(hvmBootFirmware !== undefined && { boot: { ...vm.boot, firmware: hvmBootFirmware } }),
    ...(cpus !== undefined && {
      CPUs: { ...vm.CPUs, number: cpus, max: Math.max(cpus, vm.CPUs?.max ?? 0) },
    }),
    ...(memory !== undefined && {
      memory: { ...vm.memory, static: [vm.memory?.static?.[0] ?? 0, memory] },
    }),
    ...(blockedOperations !== undefined && {
      blockedOperations: withoutNulls({ ...vm.blockedOperations, ...blockedOperations }),
    }),
  };
}

function withoutNulls(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));
}

function toMaybeId({ json }: Reply): string | undefined {
  return v.parse(MAYBE_CREATED, json?.value).id;
}

function toTagPath(vmId: string, tag: string): string {
  return `/vms/${encodeURIComponent(vmId)}/tags/${encodeURIComponent(tag)}`;
}

function read<T>(schema: v.GenericSchema<unknown, T>, { json, status }: Reply, what: string): T {
  const parsed = v.safeParse(schema, json?.value);
  if (parsed.success) return parsed.output;
  throw new CloudError("protocol", `Xen Orchestra answered ${status} without the ID of ${what}`);
}
