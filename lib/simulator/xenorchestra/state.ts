/**
 * The state of the simulated Xen Orchestra: its objects, which of them it shows now, and how they change.
 * @module
 */
import type { Clock } from "../../core/clock.ts";
import {
  type Collection,
  isCollection,
  type PowerState,
  toController,
  toServer,
  toVif,
  toVm,
  type VmOptions,
  type World,
  type XoRecord,
} from "./records.ts";
import { toUuid } from "../uuid.ts";
import { copy, type Lag, MEASURED_LAG, Store } from "./world/cache.ts";
import { type Loss, Visibility } from "./world/visibility.ts";
import { applyPower, plug, removeParts } from "./world/machine.ts";

/** How Xen Orchestra restarts. */
export interface RestartOptions {
  /** Milliseconds until the pools say `connected`. @default {0} */
  readonly connectedAfterMs?: number;
  /** Milliseconds until it shows the objects of the pools, all at once. */
  readonly loadedAfterMs: number;
}

/**
 * The objects of one Xen Orchestra, and how they change.
 *
 * Objects are raw records, and a test may change their fields in place. A lost pool takes its hosts, networks and
 * virtual machines with it: they disappear from the lists and answer 404, as if they had been deleted.
 */
export class XenOrchestraState {
  readonly #clock: Clock;
  readonly #store: Store;
  readonly #visibility: Visibility;
  /** Virtual machines and templates without guest tools, by ID. */
  readonly toolless: Set<string> = new Set();
  #made = 0;

  constructor(clock: Clock, world: World = {}, lag: Lag = MEASURED_LAG) {
    this.#clock = clock;
    this.#visibility = new Visibility(clock);
    this.#store = new Store(clock, lag);
    for (const [collection, records] of Object.entries(world)) {
      if (isCollection(collection)) for (const record of records) this.put(collection, record);
    }
  }

  /** Every record of a collection, visible or not, by ID. */
  all(collection: Collection): ReadonlyMap<string, XoRecord> {
    return this.#store.all(collection);
  }

  /** The records of a collection that can be reached now, in the order they were added. */
  list(collection: Collection): XoRecord[] {
    return this.#toVisible(collection, this.all(collection).values());
  }

  /** One record as the server can reach it now; `undefined` when it answers 404. */
  read(collection: Collection, id: string): XoRecord | undefined {
    const record = this.all(collection).get(id);
    return record && this.#visibility.show(collection, record);
  }

  /** What a list answers now: the same, late. */
  listShown(collection: Collection): XoRecord[] {
    return this.#toVisible(collection, this.#store.listShown(collection));
  }

  /** Lets reads show an object as it is, for a request that waits for it. */
  catchUp(id: string): void {
    this.#store.catchUp(id);
  }

  /** What a read answers now: the same, late. */
  readShown(collection: Collection, id: string): XoRecord | undefined {
    const record = this.#store.readShown(collection, id);
    return record && this.#visibility.show(collection, record);
  }

  /** Carries out what a call of the hypervisor changes: only later do reads show it. */
  call<T>(effect: () => T): T {
    return this.#store.call(effect);
  }

  /** Another number, and a record is not as it was: fields may be changed in place, what is in them may not. */
  revisionOf(record: XoRecord): number {
    return this.#store.revisionOf(record);
  }

  /** Adds or replaces a record. */
  put(collection: Collection, record: XoRecord): void {
    this.#store.put(collection, record);
  }

  /** Adds a pool and the connection to it. */
  addPool(pool: XoRecord): string {
    this.put("pools", pool);
    this.put("servers", toServer(pool, `${String(pool["name_label"])}.example`));
    return pool.id;
  }

  /** Adds a host and its control domain. */
  addHost(host: XoRecord): string {
    this.put("hosts", host);
    this.put("vm-controllers", toController(host));
    return host.id;
  }

  /** Adds a virtual machine, with one interface when the pool has a network. Returns its ID. */
  addVm(options: VmOptions): string {
    const vm = toVm(options);
    const network = [...this.all("networks").values()].find(
      (one) => one["$pool"] === options.poolId,
    );
    if (network !== undefined && options.vifIds === undefined) {
      const vif = toVif(vm.id, network, 0);
      this.put("vifs", vif);
      vm["VIFs"] = [vif.id];
    }
    this.put("vms", vm);
    return vm.id;
  }

  /** Deletes a virtual machine, or a template, with its interfaces. @param disks Whether its disks go, too */
  removeVm(vmId: string, disks: "go" | "stay" = "stay"): void {
    const isTemplate = this.all("vm-templates").has(vmId);
    if (isTemplate) this.remove("vm-templates", vmId);
    else this.remove("vms", this.#vm(vmId).id);
    removeParts(this, vmId, disks === "go");
  }

  /** Changes fields of a virtual machine; a field set to `undefined` is no longer sent. */
  setVm(vmId: string, fields: Readonly<Record<string, unknown>>): void {
    Object.assign(this.#vm(vmId), fields);
  }

  /**
   * Changes the power state and everything that follows: a VM that stops loses host, addresses and guest fields.
   *
   * @param hostId The host on which it runs from now on; if omitted, it stays, or starts on the master of its pool
   */
  setPower(vmId: string, power: PowerState, hostId?: string): void {
    const vm = this.#vm(vmId);
    const wasPlaced = this.all("hosts").has(String(vm["$container"]));
    const poolId = String(vm["$pool"]);
    const master = String(this.all("pools").get(poolId)?.["master"] ?? poolId);
    const chosen = hostId ?? (wasPlaced ? undefined : master);
    applyPower(vm, { power, hostId: chosen, hasTools: !this.toolless.has(vmId) });
    plug(vm, this.all("vifs").values(), this.all("vbds").values());
  }

  /** Shows a virtual machine as migrating, until `migrateLive()` or `migratePool()` completes the move. */
  beginMigration(vmId: string, operation: "migrate_send" | "pool_migrate" = "migrate_send"): void {
    this.setVm(vmId, { current_operations: { [toUuid(`task/${operation}/${vmId}`)]: operation } });
  }

  /** Moves a running virtual machine to another host of its pool. */
  migrateLive(vmId: string, hostId: string): void {
    this.setVm(vmId, { $container: hostId, current_operations: {} });
  }

  /**
   * Moves a virtual machine to another pool at once; it keeps its UUID. Call `beginMigration()` to show the migration
   * before.
   *
   * @param options.hostId The host there. @default {the master}
   * @param options.gapMs How long neither pool shows it. @default {0}
   */
  migratePool(
    vmId: string,
    poolId: string,
    options: { hostId?: string; gapMs?: number } = {},
  ): void {
    const vm = this.#vm(vmId);
    const hostId = options.hostId ?? this.all("pools").get(poolId)?.["master"] ?? poolId;
    const gapMs = options.gapMs ?? 0;
    const there = { $pool: poolId, $poolId: poolId, $container: hostId };
    Object.assign(vm, there, { current_operations: {} });
    for (const vif of this.all("vifs").values()) {
      if (vif["$VM"] === vmId) Object.assign(vif, { $pool: poolId, $poolId: poolId });
    }
    if (gapMs > 0) this.#visibility.hiddenUntilMs.set(vmId, this.#clock.monotonic() + gapMs);
  }

  /** Changes the live memory, as ballooning does; the configured limits stay. Bytes. */
  balloon(vmId: string, sizeBytes: number): void {
    const vm = this.#vm(vmId);
    vm["memory"] = Object.assign({}, vm["memory"], { size: sizeBytes });
  }

  /**
   * Loses the connection to a pool: all its objects disappear.
   *
   * @param forMs How long. @default {until `restorePool()`}
   * @param lingerMs As in {@linkcode Loss}
   */
  dropPool(poolId: string, forMs: number = Infinity, lingerMs: number = 0): void {
    this.losePool(poolId, { forMs, lingerMs });
  }

  /** The same with more choices. */
  losePool(poolId: string, loss: Loss): void {
    this.#visibility.lose(poolId, loss);
  }

  /** Whether the hypervisor of a pool cannot be asked now. */
  isCut(poolId: string): boolean {
    return this.#visibility.outages.isCut(poolId);
  }

  /** Forgets a pool and the connection to it, as when an operator removes it. Its machines continue to run, unseen. */
  forgetPool(poolId: string): void {
    this.dropPool(poolId);
    for (const server of this.all("servers").values()) {
      if (server["poolId"] === poolId) this.remove("servers", server.id);
    }
  }

  /** Restores the connection. @param lingerMs As in {@linkcode Loss} */
  restorePool(poolId: string, lingerMs: number = 0): void {
    this.dropPool(poolId, 0, lingerMs);
  }

  /** Restarts with pools that are slow to load: lists are empty, reads are 404, `/servers` soon says `connected`. */
  restart({ connectedAfterMs = 0, loadedAfterMs }: RestartOptions): void {
    this.#store.reload();
    for (const poolId of this.all("pools").keys()) {
      this.#visibility.outages.open(poolId, connectedAfterMs, loadedAfterMs);
    }
  }

  /** Hides the virtual machines and control domains of a pool while the pool and its hosts show; or ends that. */
  hideVms(poolId: string, hidden: boolean = true): void {
    if (hidden) this.#visibility.vmlessPools.add(poolId);
    else this.#visibility.vmlessPools.delete(poolId);
  }

  /** Hides one object from the token's user: lists lack it, a read gives 403; or shows it again. */
  forbid(id: string, forbidden: boolean = true): void {
    if (forbidden) this.#visibility.forbidden.add(id);
    else this.#visibility.forbidden.delete(id);
  }

  /** Whether the token's user has no right to see an object. */
  isForbidden(id: string): boolean {
    return this.#visibility.forbidden.has(id);
  }

  /** Turns a template into a virtual machine, which keeps its ID. No client sees it appear. */
  provision(templateId: string): void {
    const template = this.all("vm-templates").get(templateId);
    if (template === undefined) throw new RangeError(`Cannot find template "${templateId}"`);
    this.#visibility.provisioned.set(templateId, copy(template));
    this.remove("vm-templates", templateId);
    const { isDefaultTemplate: _isDefault, template_info: _info, ...vm } = template;
    this.put("vms", { ...vm, id: templateId, type: "VM" });
  }

  /** A virtual machine as it was while it was a template, if clients saw only that. */
  findProvisioned(vmId: string): XoRecord | undefined {
    return this.#visibility.provisioned.get(vmId);
  }

  /** Removes one record, and nothing that belongs to it. */
  remove(collection: Collection, id: string): void {
    this.#store.remove(collection, id);
  }

  /** The ID of an object that the server makes: another one each time, the same ones in every run. */
  nextId(kind: string): string {
    this.#made += 1;
    return toUuid(`made/${kind}/${this.#made}`);
  }

  /** Turns a virtual machine into a template, which keeps its ID. */
  makeTemplate(vmId: string): void {
    const vm = this.#vm(vmId);
    this.remove("vms", vmId);
    this.put("vm-templates", { ...vm, id: vm.id, type: "VM-template" });
  }

  #toVisible(collection: Collection, records: Iterable<XoRecord>): XoRecord[] {
    const { forbidden } = this.#visibility;
    return [...records].flatMap((record) =>
      forbidden.has(record.id) ? [] : (this.#visibility.show(collection, record) ?? []),
    );
  }

  #vm(vmId: string): XoRecord {
    const vm = this.all("vms").get(vmId);
    if (vm === undefined) throw new RangeError(`Cannot find VM "${vmId}"`);
    return vm;
  }
}
