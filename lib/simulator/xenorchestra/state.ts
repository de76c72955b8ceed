/**
 * The state of the simulated Xen Orchestra: its objects, which of them it shows now, and how they change.
 * @module
 */
import type { Clock } from "../../core/clock.ts";
import {
  COLLECTIONS,
  isCollection,
  toController,
  toGuest,
  toServer,
  toVif,
  toVm,
  type Collection,
  type PowerState,
  type VmOptions,
  type World,
  type XoRecord,
} from "./records.ts";
import { toUuid } from "../uuid.ts";

/** How Xen Orchestra restarts. */
export interface RestartOptions {
  /** Milliseconds until the pools say `connected`. @default {0} */
  readonly connectedAfterMs?: number;
  /** Milliseconds until it shows the objects of the pools, all at once. */
  readonly loadedAfterMs: number;
}

interface PoolOutage {
  /** Time when it shows the objects again, in monotonic milliseconds. */
  readonly untilMs: number;
  /** Time from which `/servers` says `connected`, in monotonic milliseconds. */
  readonly connectedMs: number;
  /** Whether the connection was lost. Otherwise it is not open yet. */
  readonly lost: boolean;
}

/**
 * The objects of one Xen Orchestra, and how they change.
 *
 * Objects are raw records, and a test may change them in place. A lost pool takes its hosts, networks and virtual
 * machines with it: they disappear from the lists and answer 404, as if they had been deleted.
 */
export class XenOrchestraState {
  readonly #clock: Clock;
  readonly #records = new Map<Collection, Map<string, XoRecord>>();
  readonly #outages = new Map<string, PoolOutage>();
  readonly #vmlessPools = new Set<string>();
  readonly #hiddenUntilMs = new Map<string, number>();
  readonly #forbidden = new Set<string>();

  constructor(clock: Clock, world: World = {}) {
    this.#clock = clock;
    for (const collection of collections()) this.#records.set(collection, new Map());
    for (const collection of collections()) {
      for (const record of world[collection] ?? []) this.put(collection, record);
    }
  }

  /** Every record of a collection, visible or not, by ID. */
  all(collection: Collection): ReadonlyMap<string, XoRecord> {
    return this.#collection(collection);
  }

  /** The records of a collection that a list shows now, in the order they were added. */
  list(collection: Collection): XoRecord[] {
    const shown: XoRecord[] = [];
    for (const record of this.#collection(collection).values()) {
      const visible = this.#forbidden.has(record.id) ? undefined : this.#show(collection, record);
      if (visible !== undefined) shown.push(visible);
    }
    return shown;
  }

  /** One record as the API knows it now; `undefined` when it answers 404. */
  read(collection: Collection, id: string): XoRecord | undefined {
    const record = this.#collection(collection).get(id);
    return record && this.#show(collection, record);
  }

  /** Adds or replaces a record. */
  put(collection: Collection, record: XoRecord): void {
    // A copy, so that two simulators never share a record that a test changes.
    this.#collection(collection).set(record.id, structuredClone(record));
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
    const network = [...this.#collection("networks").values()].find(
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

  /** Deletes a virtual machine, or a template, and its interfaces. */
  removeVm(vmId: string): void {
    const isTemplate = this.#collection("vm-templates").delete(vmId);
    if (!isTemplate) this.#collection("vms").delete(this.#vm(vmId).id);
    for (const vif of this.#collection("vifs").values()) {
      if (vif["$VM"] === vmId) this.#collection("vifs").delete(vif.id);
    }
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
    const poolId = String(vm["$pool"]);
    const wasPlaced = this.#collection("hosts").has(String(vm["$container"]));
    vm["power_state"] = power;
    if (power === "Running" || power === "Paused") {
      const master = this.#collection("pools").get(poolId)?.["master"];
      if (hostId !== undefined || !wasPlaced) vm["$container"] = hostId ?? master ?? poolId;
      Object.assign(vm, { ...toGuest({}), addresses: vm["addresses"] });
      return;
    }
    vm["$container"] = poolId;
    this.setVm(vmId, { addresses: {}, mainIpAddress: undefined, os_version: null });
    for (const field of ["xenTools", "managementAgentDetected", "pvDriversDetected", "startTime"]) {
      delete vm[field];
    }
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
    const hostId = options.hostId ?? this.#collection("pools").get(poolId)?.["master"] ?? poolId;
    const gapMs = options.gapMs ?? 0;
    const there = { $pool: poolId, $poolId: poolId, $container: hostId };
    Object.assign(vm, there, { current_operations: {} });
    for (const vif of this.#collection("vifs").values()) {
      if (vif["$VM"] === vmId) Object.assign(vif, { $pool: poolId, $poolId: poolId });
    }
    if (gapMs > 0) this.#hiddenUntilMs.set(vmId, this.#clock.monotonic() + gapMs);
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
   * @param lingerMs How long the objects stay away after that; the real server needs up to 60,000
   */
  dropPool(poolId: string, forMs: number = Infinity, lingerMs: number = 0): void {
    const untilMs = this.#clock.monotonic() + forMs + lingerMs;
    this.#outages.set(poolId, { untilMs, connectedMs: untilMs, lost: true });
  }

  /** Forgets a pool and the connection to it, as when an operator removes it. Its machines continue to run, unseen. */
  forgetPool(poolId: string): void {
    this.dropPool(poolId);
    const servers = this.#collection("servers");
    for (const server of servers.values()) {
      if (server["poolId"] === poolId) servers.delete(server.id);
    }
  }

  /**
   * Restores the connection.
   *
   * @param lingerMs How long the objects stay away after that; the real server needs up to 60,000
   */
  restorePool(poolId: string, lingerMs: number = 0): void {
    this.dropPool(poolId, 0, lingerMs);
  }

  /** Restarts with pools that are slow to load: lists are empty, reads are 404, `/servers` soon says `connected`. */
  restart({ connectedAfterMs = 0, loadedAfterMs }: RestartOptions): void {
    const nowMs = this.#clock.monotonic();
    const untilMs = nowMs + loadedAfterMs;
    const outage = { untilMs, connectedMs: nowMs + connectedAfterMs, lost: false };
    for (const poolId of this.#collection("pools").keys()) this.#outages.set(poolId, outage);
  }

  /** Hides the virtual machines and control domains of a pool while the pool and its hosts show; or ends that. */
  hideVms(poolId: string, hidden: boolean = true): void {
    if (hidden) this.#vmlessPools.add(poolId);
    else this.#vmlessPools.delete(poolId);
  }

  /** Hides one object from the token's user: lists lack it, a read gives 403; or shows it again. */
  forbid(id: string, forbidden: boolean = true): void {
    if (forbidden) this.#forbidden.add(id);
    else this.#forbidden.delete(id);
  }

  /** Whether the token's user has no right to see an object. */
  isForbidden(id: string): boolean {
    return this.#forbidden.has(id);
  }

  /** Turns a virtual machine into a template, which keeps its ID. */
  makeTemplate(vmId: string): void {
    const vm = this.#vm(vmId);
    this.#collection("vms").delete(vmId);
    this.put("vm-templates", { ...vm, id: vm.id, type: "VM-template" });
  }

  /** Makes a virtual machine unreadable for every client: its identity stays, the rest has the wrong types. */
  makeUndecodable(vmId: string): void {
    this.setVm(vmId, {
      name_label: 42,
      power_state: ["?"],
      memory: "much",
      addresses: 7,
      CPUs: null,
    });
  }

  #collection(collection: Collection): Map<string, XoRecord> {
    const records = this.#records.get(collection);
    if (records === undefined) throw new RangeError(`Cannot use collection "${collection}"`);
    return records;
  }

  #vm(vmId: string): XoRecord {
    const vm = this.#collection("vms").get(vmId);
    if (vm === undefined) throw new RangeError(`Cannot find VM "${vmId}"`);
    return vm;
  }

  #show(collection: Collection, record: XoRecord): XoRecord | undefined {
    const nowMs = this.#clock.monotonic();
    if (collection === "servers") return this.#showServer(record, nowMs);
    const poolId = String(record["$pool"]);
    if (nowMs < (this.#outages.get(poolId)?.untilMs ?? 0)) return undefined;
    const isVm = ["vms", "vm-controllers", "vm-templates"].includes(collection);
    if (isVm && this.#vmlessPools.has(poolId)) return undefined;
    if (nowMs < (this.#hiddenUntilMs.get(record.id) ?? 0)) return undefined;
    return record;
  }

  #showServer(server: XoRecord, nowMs: number): XoRecord {
    const outage = this.#outages.get(String(server["poolId"]));
    if (outage === undefined || nowMs >= outage.connectedMs) return server;
    const { poolId: _poolId, master: _master, ...rest } = server;
    // After a restart nothing has failed yet. A lost connection tries again and reports its error.
    const error = outage.lost ? { error: { code: "ECONNREFUSED", name: "Error" } } : {};
    return { ...rest, id: server.id, ...error, status: "connecting" };
  }
}

function collections(): Collection[] {
  return Object.keys(COLLECTIONS).filter((key) => isCollection(key));
}
