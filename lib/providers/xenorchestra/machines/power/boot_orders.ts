/**
 * Sets the order in which VMs try their devices. Of Xen Orchestra's APIs only JSON-RPC can do that, and it obeys only
 * the old ACLs: roles do not count.
 * @module
 */
import {
  type PowerRefusal,
  RefusedPowerError,
} from "../../../../cloud/capabilities/machine_power.ts";
import { CloudError } from "../../../../cloud/errors.ts";
import type { Fence } from "../../../../core/fence.ts";
import { RpcError } from "../../session/rpc.ts";
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

/** The boot orders of VMs. */
export class JsonRpcBootOrders {
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
  async set(vmId: string, order: string, fence: Fence, signal: AbortSignal): Promise<void> {
    const params = { vm: vmId, order };
    const call = { operation: "set_boot_order", method: "vm.setBootOrder", params };
    try {
      await this.#session.callRpc(call, fence, signal);
    } catch (error) {
      throw error instanceof RpcError ? explain(error, vmId) : error;
    }
  }
}

function explain(error: RpcError, vmId: string): CloudError {
  const refusal = REASONS[error.reason ?? ""] ?? REFUSALS[error.code];
  const what = `Xen Orchestra refuses to set the boot order of VM ${vmId}`;
  if (refusal === "denied") {
    const advice =
      'give Landfall\'s user the old ACL "operator" on the pool: JSON-RPC, which this needs, knows no roles';
    return new RefusedPowerError(refusal, `${what}: ${advice}`, { cause: error });
  }
  const message = `${what}: ${error.message}`;
  if (refusal) return new RefusedPowerError(refusal, message, { cause: error });
  return new CloudError("protocol", message, { cause: error });
}
