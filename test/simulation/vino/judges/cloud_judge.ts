/**
 * What must never happen in the cloud, judged at each call of a hypervisor: nothing here knows what the controller
 * thinks.
 * @module
 */
import { consumerOf, isLeaving } from "../../../../lib/simulator/metal3/host_state.ts";
import type {
  Collection,
  XenOrchestra,
  XoRecord,
} from "../../../../lib/simulator/xenorchestra/mod.ts";
import type { Journaled } from "../../../../lib/simulator/xenorchestra/writes/hypervisor.ts";
import { Watcher } from "./watcher.ts";
import type { Timeline } from "../../timeline.ts";
import type { Trace } from "../../trace.ts";
import type { ApiServer, Change } from "../../world/api_server.ts";
import { type Birth, isReady, Machines } from "./machines.ts";
import { deletes, homeOf, listTooMany, NEWS_MS, readWish, Wishes } from "./wishes.ts";
import type { ApiObject, JsonObject } from "../../../../lib/simulator/kubernetes/mod.ts";
import {
  isArray,
  isObject,
  objectAt,
  stringAt,
} from "../../../../lib/simulator/kubernetes/patches/json.ts";

/** A complete VM that people deleted. */
interface Deletion {
  readonly atMs: number;
  readonly role: string;
  readonly home: string;
}

/** Watches over the cloud. */
export class CloudJudge {
  /** Changes that processes asked for. */
  changes = 0;
  readonly machines: Machines;
  readonly watcher: Watcher;
  readonly wishes: Wishes;
  readonly #cloud: XenOrchestra;
  readonly #server: ApiServer;
  readonly #timeline: Timeline;
  readonly #trace: Trace;
  readonly #own: string[] = [];
  /** When people deleted complete VMs, by the beginning of the UID of their Vino. */
  readonly #deletions = new Map<string, Deletion[]>();

  constructor(cloud: XenOrchestra, server: ApiServer, timeline: Timeline, trace: Trace) {
    this.#cloud = cloud;
    this.#server = server;
    this.#timeline = timeline;
    this.#trace = trace;
    this.machines = new Machines(cloud);
    // It accuses at most once at a time, and before this judge has seen what came of the call.
    this.watcher = new Watcher(cloud);
    cloud.hypervisor.watch((entry) => this.#look(entry));
    this.wishes = new Wishes(server, timeline);
    judgeAddresses(server, this.machines, (what) => this.#accuse(what));
  }

  /** What was broken. */
  get violations(): readonly string[] {
    return [...this.watcher.violations, ...this.#own];
  }

  /** Told of each request as it is sent. Returns whether it would change something. */
  noteSent(asker: string, { method, url }: Request): boolean {
    // Subscriptions are no changes.
    if (method === "GET" || url.includes("/rest/v0/events")) return false;
    const { pathname } = new URL(url);
    this.#noteChange(asker, `${method} ${pathname.replace("/rest/v0", "")}`);
    return true;
  }

  /** Told of each call of JSON-RPC as it is sent. Returns whether it would change something. */
  noteCall(asker: string, message: string): boolean {
    if (!message.includes('"vm.setBootOrder"')) return false;
    this.#noteChange(asker, message);
    return true;
  }

  #noteChange(asker: string, what: string): void {
    this.changes += 1;
    this.#trace.note(asker, what);
    if (!this.#server.mayAct(asker)) this.#accuse(`${asker} changes the cloud without the Lease`);
  }

  /** Told when people delete a complete VM. */
  noteDeletion(vm: XoRecord, { uid, role }: Birth): void {
    const all = this.#deletions.get(uid) ?? [];
    const deletion = { role, atMs: this.#timeline.monotonic(), home: homeOf(vm) };
    this.#deletions.set(uid, [...all, deletion]);
  }

  /** Something belongs to others from now on, whatever its name is. */
  protect(collection: Collection, id: string): void {
    this.watcher.protect(collection, id);
    this.machines.exclude(id);
  }

  /** Compares what belongs to others with the beginning. */
  checkForeign(): void {
    for (const id of this.watcher.listTouched()) this.#accuse(`${id} of others is not as it was`);
  }

  #look(entry: Journaled): void {
    const { method, id = "", name, outcome } = entry;
    if (outcome === "sent") {
      const birth = this.machines.findBirth(id);
      if (method === "VM.destroy" && birth !== undefined) this.#judgeEnd(id, birth);
      return;
    }
    this.#trace.note("XAPI", `${method} ${name} ${outcome}`);
    this.machines.note();
    this.#judgeTwins();
    this.#judgeMacs();
  }

  /** A machine that was complete goes only because a Vino that deletes wants fewer, and nothing uses its host. */
  #judgeEnd(id: string, birth: Birth): void {
    const vm = this.#cloud.state.all("vms").get(id);
    if (vm === undefined || !this.machines.wasComplete(id)) return;
    const { name } = birth;
    if (this.isWanted(vm, birth)) this.#accuse(`${name} is deleted, and no Vino asked for that`);
    const host = this.wishes.findHost(birth);
    if (host && consumerOf(host) !== undefined) {
      this.#accuse(`${name} is deleted, and something uses its host`);
    }
  }

  /** Whether no Vino asked lately for a VM that was complete to go. */
  isWanted(vm: XoRecord, birth: Birth): boolean {
    const { uid, role } = birth;
    const homes = [...this.#listHomes(birth), ...this.#listLostHomes(birth)];
    return this.wishes.listLate(uid).every((vino) => {
      const tooMany = listTooMany(readWish(vino, role), homes);
      return !(deletes(vino) && (isLeaving(vino) || tooMany.includes(homeOf(vm))));
    });
  }

  #listHomes({ uid, role }: Birth): readonly string[] {
    const complete = this.machines.list().filter(({ vm, birth }) => {
      return birth.uid === uid && birth.role === role && this.machines.wasComplete(vm.id);
    });
    return complete.map(({ vm }) => homeOf(vm));
  }

  /** Of VMs that people deleted, and that a process may still count. */
  #listLostHomes({ uid, role }: Birth): readonly string[] {
    const sinceMs = this.#timeline.monotonic() - NEWS_MS;
    const all = this.#deletions.get(uid) ?? [];
    return all.filter((one) => one.role === role && one.atMs > sinceMs).map(({ home }) => home);
  }

  /** Of all VMs that were made as one machine, whatever their names are now, at most one can start. */
  #judgeTwins(): void {
    const able = this.machines
      .list()
      .filter(({ vm }) => isReady(vm) || vm["power_state"] !== "Halted");
    for (const [name, some] of Map.groupBy(able, ({ birth }) => birth.name)) {
      if (some.length > 1) this.#accuse(`${some.length} VMs that can start were made as ${name}`);
    }
  }

  /** VMs of one machine may have the same MAC address while one of them is only half-made, others never. */
  #judgeMacs(): void {
    const names = new Map<string, string>();
    for (const vif of this.#cloud.state.all("vifs").values()) {
      const vm = String(vif["$VM"]);
      const name = this.machines.findBirth(vm)?.name ?? vm;
      const mac = String(vif["MAC"]).toLowerCase();
      const other = names.get(mac) ?? name;
      if (other !== name) this.#accuse(`${name} and ${other} have the MAC address ${mac}`);
      names.set(mac, name);
    }
  }

  #accuse(what: string): void {
    this.#own.push(what);
    this.#trace.note("JUDGE", what);
  }
}

/** Watches over pools from now on. @param accuse Told what is broken */
function judgeAddresses(
  server: ApiServer,
  machines: Machines,
  accuse: (what: string) => void,
): void {
  const judge = new AddressJudge(machines, accuse);
  server.follow<ApiObject>("ippools", (change) => judge.look(change));
}

class AddressJudge {
  readonly #machines: Machines;
  readonly #accuse: (what: string) => void;
  /** Whom each address was given to last. */
  readonly #holders = new Map<string, string>();

  constructor(machines: Machines, accuse: (what: string) => void) {
    this.#machines = machines;
    this.#accuse = accuse;
  }

  look(change: Change<ApiObject>): void {
    this.#judgePool(change.after);
    this.#judgeOthers(change);
  }

  /** No address and no MAC address is given twice, and none of a machine that exists is given to another. */
  #judgePool(pool: ApiObject | undefined): void {
    if (pool === undefined) return;
    const given = listGiven(pool);
    for (const key of ["ip", "mac", "allocatedTo"]) {
      const values = given.map((one) => stringAt(one, key)).filter((value) => value !== "");
      if (new Set(values).size < values.length) this.#accuse(`a pool has one ${key} twice`);
    }
    this.#forgetReleased(new Set(given.map((one) => stringAt(one, "ip"))));
    for (const one of given) {
      const [ip, owner] = [stringAt(one, "ip"), stringAt(one, "allocatedTo")];
      const before = this.#holders.get(ip) ?? owner;
      this.#holders.set(ip, owner);
      if (before === owner) continue;
      const name = toMachineName(before);
      if (this.#exists(name)) this.#accuse(`${owner} gets ${ip}, and ${name} has it and exists`);
    }
  }

  /** A machine that is made again later does not have the addresses any more that it gave back. */
  #forgetReleased(given: ReadonlySet<string>): void {
    for (const [ip, owner] of this.#holders) {
      if (!given.has(ip) && !this.#exists(toMachineName(owner))) this.#holders.delete(ip);
    }
  }

  #exists(name: string): boolean {
    return this.#machines.list().some(({ birth }) => birth.name === name);
  }

  /** What a pool says of addresses that are not of machines, no process changes. */
  #judgeOthers({ author, before, after }: Change<ApiObject>): void {
    if (author === undefined || before === undefined || after === undefined) return;
    const now = new Set(listGiven(after).map((one) => JSON.stringify(one)));
    for (const one of listGiven(before)) {
      const isOurs = /^[^/]+\/[^/]+\/vino-/.test(stringAt(one, "allocatedTo"));
      if (!isOurs && !now.has(JSON.stringify(one))) {
        this.#accuse(`${author} changes the address ${stringAt(one, "ip")} of others`);
      }
    }
  }
}

/** The machine that has an address. @param owner As pools write it: `metal/core/vino-1b4e28ba-worker-0/eth0` */
function toMachineName(owner: string): string {
  return owner.split("/")[2] ?? "";
}

/** Which addresses a pool has given to whom. */
function listGiven(pool: ApiObject): readonly JsonObject[] {
  const { allocatedIPs = [] } = objectAt(pool, "spec");
  return isArray(allocatedIPs) ? allocatedIPs.filter(isObject) : [];
}
