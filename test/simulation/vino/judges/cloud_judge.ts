/**
 * What must never happen in the cloud, judged at each call of a hypervisor: nothing here knows what the controller
 * thinks.
 * @module
 */
import type { ApiObject, JsonObject } from "../../../../lib/simulator/kubernetes/mod.ts";
import {
  isArray,
  isObject,
  objectAt,
  stringAt,
} from "../../../../lib/simulator/kubernetes/patches/json.ts";
import { consumerOf, isLeaving } from "../../../../lib/simulator/metal3/host_state.ts";
import type { Collection, XenOrchestra } from "../../../../lib/simulator/xenorchestra/mod.ts";
import type { Journaled } from "../../../../lib/simulator/xenorchestra/writes/hypervisor.ts";
import { Watcher } from "../../../crashes/machines/watcher.ts";
import type { Timeline } from "../../timeline.ts";
import type { Trace } from "../../trace.ts";
import type { ApiServer, Change } from "../../world/api_server.ts";
import { type Birth, isReady, Machines } from "./machines.ts";

/** A process may not know yet what changed less long ago: it may be frozen, cut off, or slow. */
const NEWS_MS = 240_000;

/** What a Vino wanted at some time. */
interface Said {
  readonly atMs: number;
  readonly vino: ApiObject;
}

/** Watches over the cloud. */
export class CloudJudge {
  /** Changes that processes asked for. */
  changes = 0;
  readonly machines: Machines;
  readonly watcher: Watcher;
  readonly #cloud: XenOrchestra;
  readonly #server: ApiServer;
  readonly #timeline: Timeline;
  readonly #trace: Trace;
  readonly #own: string[] = [];
  /** When people deleted complete VMs, by the beginning of the UID of their Vino. */
  readonly #deletions = new Map<string, { readonly atMs: number; readonly role: string }[]>();
  /** What each Vino said, by the beginning of its UID. */
  readonly #said = new Map<string, Said[]>();
  /** Whom each address was given to last. */
  readonly #holders = new Map<string, string>();

  constructor(cloud: XenOrchestra, server: ApiServer, timeline: Timeline, trace: Trace) {
    this.#cloud = cloud;
    this.#server = server;
    this.#timeline = timeline;
    this.#trace = trace;
    this.machines = new Machines(cloud);
    // It accuses at most once at a time, and before this judge has seen what came of the call.
    this.watcher = new Watcher(cloud);
    cloud.hypervisor.watch((entry) => this.#look(entry));
    server.follow<ApiObject>("vinoes", ({ after }) => this.#noteVino(after));
    server.follow<ApiObject>("ippools", (change) => {
      this.#judgePool(change.after);
      this.#judgeOthers(change);
    });
  }

  /** What was broken. */
  get violations(): readonly string[] {
    return [...this.watcher.violations, ...this.#own];
  }

  /** Told of each request as it is sent. Returns whether it would change something. */
  noteSent(asker: string, { method, url }: Request): boolean {
    // Subscriptions are no changes.
    if (method === "GET" || url.includes("/rest/v0/events")) return false;
    this.changes += 1;
    const { pathname } = new URL(url);
    this.#trace.note(asker, `${method} ${pathname.replace("/rest/v0", "")}`);
    if (!this.#server.mayAct(asker)) this.#accuse(`${asker} changes the cloud without the Lease`);
    return true;
  }

  /** Whether what is left of a machine with a name may stay: its Vino deletes nothing. */
  mayStay(name: string): boolean {
    const uid = /^vino-([0-9a-f]{8})-/.exec(name)?.[1] ?? "";
    const last = this.#said.get(uid)?.at(-1);
    return last !== undefined && !deletes(last.vino);
  }

  /** Told when people delete a complete VM. */
  noteDeletion({ uid, role }: Birth): void {
    const all = this.#deletions.get(uid) ?? [];
    this.#deletions.set(uid, [...all, { role, atMs: this.#timeline.monotonic() }]);
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
  #judgeEnd(id: string, { name, uid, role, index }: Birth): void {
    if (!this.machines.wasComplete(id)) return;
    const said = this.#saidLately(uid);
    const complete = this.machines.list().filter(({ vm: { id: one }, birth }) => {
      return birth.uid === uid && birth.role === role && this.machines.wasComplete(one);
    });
    const sinceMs = this.#timeline.monotonic() - NEWS_MS;
    const lost = (this.#deletions.get(uid) ?? []).filter(
      (one) => one.role === role && one.atMs > sinceMs,
    );
    const count = complete.length + lost.length;
    const isWanted = said.every(({ vino }) => {
      const isOver = isLeaving(vino) || readCount(vino, role) < count;
      return !(deletes(vino) && isOver);
    });
    if (isWanted) this.#accuse(`${name} is deleted, and no Vino asked for that`);
    const vinoName = said.at(-1)?.vino.metadata.name ?? "";
    const host = this.#server.objects
      .list("baremetalhosts")
      .find(({ metadata }) => metadata.name === `${vinoName}-${role}-${index}`);
    if (host && consumerOf(host) !== undefined) {
      this.#accuse(`${name} is deleted, and something uses its host`);
    }
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
    return this.machines.list().some(({ birth }) => birth.name === name);
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

  #noteVino(vino: ApiObject | undefined): void {
    if (vino === undefined) return;
    const uid = stringAt(vino.metadata, "uid").slice(0, 8);
    const all = this.#said.get(uid) ?? [];
    const generation = all.at(-1)?.vino.metadata["generation"];
    if (generation === vino.metadata["generation"] && !isLeaving(vino)) return;
    all.push({ atMs: this.#timeline.monotonic(), vino });
    this.#said.set(uid, all);
  }

  /** What a process may believe a Vino wants: all that it wanted lately. */
  #saidLately(uid: string): readonly Said[] {
    const all = this.#said.get(uid) ?? [];
    const sinceMs = this.#timeline.monotonic() - NEWS_MS;
    const at = all.findLastIndex(({ atMs }) => atMs <= sinceMs);
    return all.slice(Math.max(0, at));
  }

  #accuse(what: string): void {
    this.#own.push(what);
    this.#trace.note("JUDGE", what);
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

/** How many machines a Vino wants of a role. */
export function readCount(vino: ApiObject, role: string): number {
  const { nodes = [] } = objectAt(vino, "spec");
  const all = isArray(nodes) ? nodes.filter(isObject) : [];
  return Number(all.find((node) => stringAt(node, "name") === role)?.["count"] ?? 0);
}

/** Whether a Vino deletes the machines that it does not want. */
export function deletes(vino: ApiObject): boolean {
  const block = objectAt(objectAt(vino, "spec"), "xenOrchestra");
  return stringAt(block, "deletionPolicy") === "Delete";
}
