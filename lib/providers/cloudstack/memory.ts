/**
 * What Landfall remembers of one CloudStack between inventories, besides the last inventory itself.
 * @module
 */
import { type Inventory, LastSeen } from "../../cloud/inventory/inventory.ts";
import { remember } from "../../core/maps.ts";
import { type Backends, toBackends } from "./model/backends.ts";
import { findOwner } from "./model/instance.ts";
import type { ObjectList } from "./session/lists.ts";
import type { Vm } from "./wire/schema.ts";

const ZONES_MAX = 256;
const VMS_MAX = 10_000;

/**
 * The memory of a provider. It keeps Nodes safe, because it knows what the server should show to this user. It says
 * nothing about another CloudStack, nor about what another user may see.
 */
export class Memory {
  readonly #zones = new Map<string, string>();
  readonly #lastSeen = new LastSeen(VMS_MAX, findOwner);
  readonly #removed = new Map<string, true>();
  #nodeVmIds: ReadonlySet<string> = new Set();
  #hasInventory = false;
  #followsBackends = false;
  #backends: Backends | undefined;

  /** Names of all zones that were ever shown, by ID. */
  get zones(): ReadonlyMap<string, string> {
    return this.#zones;
  }

  /** The VMs of the Nodes that the last inventory was for: those that it shows, and those that provider IDs name. */
  get nodeVmIds(): ReadonlySet<string> {
    return this.#nodeVmIds;
  }

  /** Whether an inventory was taken: before, the VMs of Nodes are not known. */
  get hasInventory(): boolean {
    return this.#hasInventory;
  }

  /** The VMs of the last list, for load balancers; `undefined` before a list that was followed. */
  get backends(): Backends | undefined {
    return this.#backends;
  }

  /** Whether a list is wanted with all its VMs, because {@linkcode backends} are not known yet. */
  get lacksBackends(): boolean {
    return this.#followsBackends && this.#backends === undefined;
  }

  /** Remembers {@linkcode backends} from the next list on. Without load balancers they would only cost memory. */
  followBackends(): void {
    this.#followsBackends = true;
  }

  /** Records a list of all VMs. @param observedAtMs When it was requested, in monotonic milliseconds */
  noteList(list: ObjectList<Vm>, observedAtMs: number): void {
    for (const { zoneid, zonename } of list.objects) {
      if (zoneid) remember(this.#zones, zoneid, zonename ?? zoneid, ZONES_MAX);
    }
    if (this.#followsBackends) this.#backends = toBackends(list, observedAtMs);
  }

  /** Records that the last list is still the same. */
  renewList(observedAtMs: number): void {
    if (this.#backends !== undefined) this.#backends = { ...this.#backends, observedAtMs };
  }

  /** Records an inventory. @param nodeVmIds The VMs of all Nodes, shown or not */
  noteInventory({ instances }: Inventory, nodeVmIds: ReadonlySet<string>): void {
    this.#nodeVmIds = nodeVmIds;
    this.#hasInventory = true;
    this.#lastSeen.noteList({ instances, lookedFor: nodeVmIds, copies: new Set() });
    for (const vmId of this.#removed.keys()) if (instances.has(vmId)) this.#removed.delete(vmId);
  }

  /** Records that the server knows the ID of a VM, but shows none. */
  noteRemoved(vmId: string): void {
    remember(this.#removed, vmId, true, VMS_MAX);
  }

  /** Whether the server knew the ID of a VM after it showed the VM for the last time. */
  wasRemoved(vmId: string): boolean {
    return this.#removed.has(vmId);
  }

  /** Whose a VM was when this process saw it; `undefined` if it never did. Such a VM may be any account's. */
  findOwner(vmId: string): string | undefined {
    return this.#lastSeen.findPlace(vmId);
  }
}
