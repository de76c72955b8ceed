/**
 * Changes of VMs for which Xen Orchestra has only JSON-RPC: the order in which they try their devices, and what is in
 * their drive for CDs. It obeys only the old ACLs: roles do not count.
 * @module
 */
import {
  type PowerRefusal,
  RefusedPowerError,
} from "../../../../cloud/capabilities/machine_power.ts";
import { CloudError } from "../../../../cloud/errors.ts";
import type { Fence } from "../../../../core/fence.ts";
import { type RpcCall, RpcError } from "../../session/rpc.ts";
import type { Session } from "../../session/session.ts";

const NOT_ENOUGH_PERMISSIONS = 2;

/** Codes of Xen Orchestra. */
const REFUSALS: Readonly<Record<number, PowerRefusal>> = {
  1: "notOurs",
  [NOT_ENOUGH_PERMISSIONS]: "denied",
  5: "blocked",
  13: "state",
  14: "unsupported",
  25: "state",
  [-32_601]: "unsupported",
};
/** Codes of the hypervisor. */
const REASONS: Readonly<Record<string, PowerRefusal>> = {
  OTHER_OPERATION_IN_PROGRESS: "busy",
  OPERATION_BLOCKED: "blocked",
  VM_BAD_POWER_STATE: "state",
};

/** These changes. */
export class JsonRpcChanges {
  readonly #session: Pick<Session, "callRpc">;

  constructor(session: Pick<Session, "callRpc">) {
    this.#session = session;
  }

  /**
   * Sets the order of a VM, for good. Doing it again changes nothing.
   *
   * @param order In letters of the hypervisor: `ncd`
   * @throws {RefusedPowerError} if Xen Orchestra refuses
   * @throws {CloudError} when it does not answer; it may have been done all the same
   */
  async setBootOrder(
    vmId: string,
    order: string,
    fence: Fence,
    signal: AbortSignal,
  ): Promise<void> {
    const params = { vm: vmId, order };
    const call = { operation: "set_boot_order", method: "vm.setBootOrder", params };
    await this.#call(call, `set the boot order of VM ${vmId}`, fence, signal);
  }

  /** Puts a disk into the drive of a VM. A VM without a drive gets one. @throws as `setBootOrder` */
  async insertCd(vmId: string, diskId: string, fence: Fence, signal: AbortSignal): Promise<void> {
    const params = { id: vmId, cd_id: diskId };
    const call = { operation: "insert_cd", method: "vm.insertCd", params };
    await this.#call(call, `put an image into the drive of VM ${vmId}`, fence, signal);
  }

  /** Empties the drive of a VM. @throws as `setBootOrder` */
  async ejectCd(vmId: string, fence: Fence, signal: AbortSignal): Promise<void> {
    const call = { operation: "eject_cd", method: "vm.ejectCd", params: { id: vmId } };
    await this.#call(call, `empty the drive of VM ${vmId}`, fence, signal);
  }

  /** @param what What the call does, to complete the sentence "Xen Orchestra refuses to …" */
  async #call(call: RpcCall, what: string, fence: Fence, signal: AbortSignal): Promise<void> {
    try {
      await this.#session.callRpc(call, fence, signal);
    } catch (error) {
      throw error instanceof RpcError ? explain(error, `Xen Orchestra refuses to ${what}`) : error;
    }
  }
}

function explain(error: RpcError, what: string): CloudError {
  const refusal = REASONS[error.reason ?? ""] ?? REFUSALS[error.code];
  if (refusal === "denied") {
    const advice =
      'give Landfall\'s user the old ACL "operator" on the pool: JSON-RPC, which this needs, knows no roles';
    return new RefusedPowerError(refusal, `${what}: ${advice}`, { cause: error });
  }
  const message = `${what}: ${error.message}`;
  if (refusal) return new RefusedPowerError(refusal, message, { cause: error });
  return new CloudError("protocol", message, { cause: error });
}
