/**
 * Power of single VMs, for management controllers. Only complete ones of ours.
 * @module
 */
import {
  type BootDevice,
  type MachineInterfaces,
  type MachinePower,
  type MachineReading,
  type PowerAction,
  RefusedPowerError,
} from "../../../../cloud/capabilities/machine_power.ts";
import { parseMachineName } from "../../../../cloud/capabilities/machines.ts";
import { CloudError } from "../../../../cloud/errors.ts";
import type { Finding } from "../../../../cloud/inspection.ts";
import { ALONE, Fence } from "../../../../core/fence.ts";
import { type Vm, isComplete, toVm } from "../observe/observation.ts";
import { XenOrchestraMedia } from "./media.ts";
import type { JsonRpcChanges } from "./rpc_changes.ts";
import { Changes } from "../wire/changes.ts";
import type { MachinesApi } from "../wire/machines_api.ts";
import { type OwnChanges, toChanged } from "../wire/own_changes.ts";
import { RpcError } from "../../session/rpc.ts";
import type { Session } from "../../session/session.ts";
import { type Acting, ACTIONS, toPowerRefusal } from "./actions.ts";

/** What {@linkcode inspectBootOrders} needs. */
interface BootOrderInspection {
  readonly api: Pick<MachinesApi, "list">;
  readonly session: Pick<Session, "callRpc">;
}

const CODE = "machines.bootOrder";
/** What an operator may do, and an administrator of the object. */
const ENOUGH = ["operate", "administrate"] as const;
const CALL = { operation: "read_old_acls", method: "acl.getCurrentPermissions", params: {} };
const CONSEQUENCE =
  "without it, management controllers refuse to set the boot device; machines with boot: Network still try the " +
  "network first at each start";

/**
 * Looks at every pool that is visible.
 *
 * @throws {CloudError} if the pools cannot be listed
 */
export async function inspectBootOrders(
  { api, session }: BootOrderInspection,
  signal: AbortSignal,
): Promise<Finding[]> {
  const [{ objects: pools }, rights] = await Promise.all([
    api.list("pools", signal),
    readOldRights(session, signal),
  ]);
  if ("problem" in rights) {
    const message =
      "Machines: Landfall cannot find out whether the user may set the boot order of VMs: " +
      rights.problem;
    const advice = `make sure that it has the old ACL "operator" on the pool (Settings, ACLs); ${CONSEQUENCE}`;
    return [{ level: "warning", code: CODE, message, advice }];
  }
  const lacking = pools.filter(({ id }) => !rights.pools.has(id));
  if (lacking.length === 0) {
    return [
      { level: "ok", code: CODE, message: "Machines: the user may set the boot order of VMs" },
    ];
  }
  return lacking.map(({ id, name_label: name }) => {
    const pool = name ? `${name} (${id})` : id;
    const message =
      `Machines: the user has no right to set the boot order of VMs in pool ${pool}: ` +
      'it lacks the old ACL "operator" there';
    const advice = `add the ACL in Settings, ACLs, because roles do not count for this; ${CONSEQUENCE}`;
    return { level: "warning", code: CODE, message, advice };
  });
}

/** The pools whose VMs the user may operate. */
async function readOldRights(
  session: Pick<Session, "callRpc">,
  signal: AbortSignal,
): Promise<{ readonly pools: ReadonlySet<string> } | { readonly problem: string }> {
  try {
    // It only reads, so it need not lead.
    const answer = await session.callRpc(CALL, new Fence(ALONE), signal);
    if (typeof answer !== "object" || answer === null || Array.isArray(answer)) {
      return { problem: "it answers in another form" };
    }
    const objects: [string, unknown][] = Object.entries(answer);
    const allowed = objects.filter(([, actions]) => ENOUGH.some((one) => Object(actions)[one]));
    return { pools: new Set(allowed.map(([id]) => id)) };
  } catch (error) {
    if (error instanceof RpcError || error instanceof CloudError) return { problem: error.message };
    throw error;
  }
}

/** What {@linkcode XenOrchestraPower} needs. */
interface PowerOptions {
  readonly api: MachinesApi;
  readonly session: Pick<Session, "change">;
  readonly own: OwnChanges;
  /** Finds a VM in the last inventory. */
  readonly findListed: (id: string) => Vm | undefined;
  readonly rpc: JsonRpcChanges;
}

/** The letters of the hypervisor. */
const LETTERS: Readonly<Record<BootDevice, string>> = { disk: "c", network: "n", cd: "d" };
const DEVICES: Readonly<Record<string, BootDevice>> = { c: "disk", n: "network", d: "cd" };

/** See {@linkcode MachinePower}. */
export class XenOrchestraPower implements MachinePower {
  readonly media: XenOrchestraMedia;
  readonly #options: PowerOptions;

  constructor(options: PowerOptions) {
    this.#options = options;
    this.media = new XenOrchestraMedia({
      ...options,
      begin: (id, fence, signal) => this.#begin(id, fence, signal),
    });
  }

  async read(id: string, signal: AbortSignal): Promise<MachineReading | undefined> {
    const vm = await this.#find(id, signal);
    if (vm === undefined) return undefined;
    return {
      id,
      name: vm.name,
      power: vm.power,
      isGraceful: vm.power === "running" && vm.hasTools,
      bootOrder: Array.from(vm.bootOrder).flatMap((letter) => DEVICES[letter] ?? []),
      ...(vm.startedAtMs !== undefined && { startedAtMs: vm.startedAtMs }),
      firmware: vm.firmware,
      cpus: vm.cpus ?? 0,
      memoryBytes: vm.memoryBytes ?? 0,
    };
  }

  async readName(id: string, signal: AbortSignal): Promise<string | undefined> {
    const listed = this.#options.findListed(id);
    const vm = listed && isOurs(listed) ? listed : await this.#find(id, signal);
    return vm?.name;
  }

  async readInterfaces(id: string, signal: AbortSignal): Promise<MachineInterfaces | undefined> {
    const name = await this.readName(id, signal);
    if (name === undefined) return undefined;
    const vifs = await this.#options.api.list("vifs", signal, `$VM:${id}`);
    const interfaces = vifs.objects
      .filter(({ $VM }) => $VM === id)
      .toSorted((one, other) => Number(one.device) - Number(other.device))
      .map(({ MAC, $network: network }) => ({
        mac: MAC.toLowerCase(),
        ...(network ? { network } : {}),
      }));
    return { name, interfaces };
  }

  async act(id: string, action: PowerAction, fence: Fence, signal: AbortSignal): Promise<void> {
    const acting = await this.#begin(id, fence, signal);
    try {
      await ACTIONS[action](acting);
    } catch (error) {
      throw toPowerRefusal(error, action);
    }
  }

  async setBootOrder(
    id: string,
    order: readonly BootDevice[],
    fence: Fence,
    signal: AbortSignal,
  ): Promise<void> {
    const { rpc, own } = this.#options;
    const { vm } = await this.#begin(id, fence, signal);
    const letters = order.map((device) => LETTERS[device]).join("");
    await rpc.setBootOrder(vm.id, letters, fence, signal);
    own.note(
      "vms",
      vm.id,
      toChanged((raw) => ({ ...raw, boot: { ...raw.boot, order: letters } })),
    );
  }

  async setFirmware(
    id: string,
    firmware: "bios" | "uefi",
    fence: Fence,
    signal: AbortSignal,
  ): Promise<void> {
    const { vm, changes } = await this.#begin(id, fence, signal);
    if (vm.power !== "stopped") {
      const message = `VM ${vm.name} is not off, so it keeps its firmware; switch it off first`;
      throw new RefusedPowerError("state", message);
    }
    try {
      await changes.patchVm(vm.id, { hvmBootFirmware: firmware });
    } catch (error) {
      throw toPowerRefusal(error, "set the firmware");
    }
  }

  async #begin(id: string, fence: Fence, signal: AbortSignal): Promise<Acting> {
    const vm = await this.#find(id, signal);
    if (vm === undefined) {
      const message = `VM ${id} does not exist, or is not one of Landfall's complete machines`;
      throw new RefusedPowerError("notOurs", message);
    }
    const { session, own } = this.#options;
    return { vm, changes: new Changes({ session, own, fence, signal }) };
  }

  /** Finds a complete VM of ours. */
  async #find(id: string, signal: AbortSignal): Promise<Vm | undefined> {
    const read = await this.#options.api.readVm(id, signal);
    if (read.kind === "missing") return undefined;
    if (read.kind !== "found") {
      throw new CloudError("protocol", `Landfall cannot read VM ${id}: ${read.problem}`);
    }
    const vm = toVm(read.value);
    return isOurs(vm) ? vm : undefined;
  }
}

function isOurs(vm: Vm): boolean {
  return parseMachineName(vm.name) !== undefined && vm.mark !== undefined && isComplete(vm);
}
