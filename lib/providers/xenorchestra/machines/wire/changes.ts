/**
 * The requests that change machines. Each asks the fence right before it is sent, and none is sent twice.
 * @module
 */
import * as v from "valibot";
import { CloudError } from "../../../../cloud/errors.ts";
import type { Reply } from "../../../../cloud_http/http.ts";
import type { Fence } from "../../../../core/fence.ts";
import type { ChangeRequest } from "../../session/change.ts";
import type { Session } from "../../session/session.ts";
import type { CreateBody, VmFields } from "../steps.ts";
import { ChangeRefusal, toRefusal } from "./refusal.ts";
import { CHANGE_MS, SLOW_MS, TAKEN_MS } from "./timeouts.ts";

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

/** Sends changes. @throws {CloudError} see each method; without an answer the change may have been carried out */
export class Changes {
  readonly #session: Pick<Session, "change">;
  readonly #fence: Pick<Fence, "bind" | "check">;
  readonly #signal: AbortSignal;

  constructor(
    session: Pick<Session, "change">,
    fence: Pick<Fence, "bind" | "check">,
    signal: AbortSignal,
  ) {
    this.#session = session;
    this.#fence = fence;
    this.#signal = signal;
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
  }

  /** Adds a tag to a VM. It may have it already. */
  async addTag(vmId: string, tag: string): Promise<void> {
    await this.#plain("add_tag", "PUT", toTagPath(vmId, tag));
  }

  /** Removes a tag of a VM. It may not have it. */
  async removeTag(vmId: string, tag: string): Promise<void> {
    await this.#plain("remove_tag", "DELETE", toTagPath(vmId, tag));
  }

  /** Adds a network interface. */
  async addInterface(fields: object): Promise<void> {
    await this.#plain("create_vif", "POST", "/vifs", fields);
  }

  /** Makes a disk of these bytes. @returns Its ID */
  async uploadDisk(
    storageId: string,
    names: { readonly name: string; readonly description: string },
    bytes: Uint8Array<ArrayBuffer>,
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
      body: { bytes },
      timeoutMs: SLOW_MS,
    });
    return read(CREATED, reply, "a new disk").id;
  }

  /** Attaches a disk, only for reading. */
  async attachDisk(vmId: string, diskId: string, position: string): Promise<void> {
    const body = { VM: vmId, VDI: diskId, mode: "RO", userdevice: position };
    await this.#plain("create_vbd", "POST", "/vbds", body);
  }

  /** Takes a disk away from its VM. The disk stays. */
  async detachDisk(linkId: string): Promise<void> {
    await this.#remove("delete_vbd", `/vbds/${encodeURIComponent(linkId)}`);
  }

  /** Changes the name or the size of a disk. */
  async patchDisk(id: string, fields: object): Promise<void> {
    await this.#plain("patch_vdi", "PATCH", `/vdis/${encodeURIComponent(id)}`, fields);
  }

  /** Deletes a disk, or finds that it does not exist. */
  async deleteDisk(id: string): Promise<void> {
    await this.#remove("delete_vdi", `/vdis/${encodeURIComponent(id)}`);
  }

  /** Deletes a VM with its disks, hard, or finds that it does not exist. */
  async deleteVm(id: string): Promise<void> {
    await this.#remove("delete_vm", `/vms/${encodeURIComponent(id)}`);
  }

  /** Deletes a template with its disks, or finds that it does not exist. */
  async deleteTemplate(id: string): Promise<void> {
    await this.#remove("delete_vm_template", `/vm-templates/${encodeURIComponent(id)}`);
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
  }

  async #plain(
    operation: string,
    method: ChangeRequest["method"],
    path: string,
    json?: object,
  ): Promise<void> {
    const request = { operation, method, path, ...(json && { body: { json } }) };
    await this.#send(`${method} ${path}`, { ...request, timeoutMs: CHANGE_MS });
  }

  async #remove(operation: string, path: string): Promise<void> {
    try {
      await this.#send(`DELETE ${path}`, { operation, method: "DELETE", path, timeoutMs: SLOW_MS });
    } catch (error) {
      if (!(error instanceof ChangeRefusal && error.isMissing)) throw error;
    }
  }

  async #send(what: string, request: ChangeRequest): Promise<Reply> {
    const reply = await this.#session.change(request, this.#fence, this.#signal);
    if (reply.status >= 200 && reply.status < 300) return reply;
    throw toRefusal(reply, what);
  }
}

function toTagPath(vmId: string, tag: string): string {
  return `/vms/${encodeURIComponent(vmId)}/tags/${encodeURIComponent(tag)}`;
}

function read<T>(schema: v.GenericSchema<unknown, T>, { json, status }: Reply, what: string): T {
  const parsed = v.safeParse(schema, json?.value);
  if (parsed.success) return parsed.output;
  throw new CloudError("protocol", `Xen Orchestra answered ${status} without the ID of ${what}`);
}
