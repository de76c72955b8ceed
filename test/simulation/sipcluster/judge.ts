/**
 * What must never happen to hosts, judged at each change: nothing here knows what the controller thinks.
 * @module
 */
import type { ApiObject, JsonObject } from "../../../lib/simulator/kubernetes/mod.ts";
import { isEqual, objectAt } from "../../../lib/simulator/kubernetes/patches/json.ts";
import {
  consumerOf,
  isLeaving,
  isPaused,
  stateOf,
} from "../../../lib/simulator/metal3/host_state.ts";
import type { Timeline } from "../timeline.ts";
import type { Trace } from "../trace.ts";
import type { ApiServer, Change } from "../world/api_server.ts";
import type { Process } from "../world/process.ts";
import {
  clusterOf,
  findRecord,
  findRole,
  isBroken,
  isRecorded,
  labelOf,
  LABELS,
  mayTakeUsed,
  rackOf,
  readWish,
  type Role,
  ROLES,
  troubleOf,
} from "./hosts.ts";
import type { TransportRequest } from "../../../lib/kube/api/request.ts";

/** A process may not know yet what changed less long ago: it may be frozen, cut off, or slow. */
const NEWS_MS = 240_000;

/** How long a host must be in error before it is replaced. */
export const ERROR_GRACE_MS = 60_000;

/** So much sooner it may be: a status has whole seconds, and clocks are up to one in a hundred wrong. */
const EARLY_MS = 5_000;

/** What a cluster wanted at some time. */
interface Said {
  readonly atMs: number;
  readonly cluster: ApiObject;
}

/** Watches over all hosts. */
export class HostJudge {
  readonly violations: string[] = [];
  /** Changes of objects by processes, Leases and Events apart. */
  writes = 0;
  readonly #server: ApiServer;
  readonly #timeline: Timeline;
  readonly #trace: Trace;
  readonly #said = new Map<string, Said[]>();
  /** When somebody other than a process last changed a host. */
  readonly #foreignMs = new Map<string, number>();
  /** Since when hosts are in error, as far as the status of their clusters tells. */
  readonly #brokenMs = new Map<string, number>();

  constructor(server: ApiServer, timeline: Timeline, trace: Trace) {
    this.#server = server;
    this.#timeline = timeline;
    this.#trace = trace;
    server.follow<ApiObject>("baremetalhosts", (change) => this.#judgeHost(change));
    server.follow<ApiObject>("sipclusters", (change) => this.#noteCluster(change));
    for (const plural of ["services", "configmaps", "deployments", "poddisruptionbudgets"]) {
      server.follow<ApiObject>(plural, (change) => this.#noteWrite(plural, change));
    }
  }

  /** Told of each request as it is sent. Returns whether it would write, Leases and Events apart. */
  noteSent({ name }: Process, { method, path }: TransportRequest): boolean {
    if (method === "GET" || /\/(leases|events)(\/|\?|$)/.test(path)) return false;
    if (!this.#server.mayAct(name)) this.#accuse(`${name} writes without the Lease: ${path}`);
    return true;
  }

  #noteWrite(plural: string, { author, before, after }: Change<ApiObject>): void {
    if (author === undefined) return;
    this.writes += 1;
    const verb = before === undefined ? "makes" : after === undefined ? "deletes" : "changes";
    const object = after ?? before;
    this.#trace.note(author, `${verb} ${plural} ${object === undefined ? "" : keyOf(object)}`);
  }

  #noteCluster(change: Change<ApiObject>): void {
    this.#noteWrite("sipclusters", change);
    const { after } = change;
    if (after === undefined) return;
    const key = keyOf(after);
    const all = this.#said.get(key) ?? [];
    all.push({ atMs: this.#timeline.monotonic(), cluster: after });
    this.#said.set(key, all);
    this.#forgetErrors();
  }

  #judgeHost({ author, before, after }: Change<ApiObject>): void {
    const host = after ?? before;
    if (host === undefined) return;
    const [old, now] = [before, after].map((one) => (one === undefined ? "" : clusterOf(one)));
    if (old !== now) {
      this.#trace.note(author ?? "people", `host ${keyOf(host)}: "${old}" -> "${now}"`);
    }
    if (author === undefined) {
      this.#forgetErrors();
      if (after !== undefined && isBroken(after) && !this.#brokenMs.has(keyOf(host)))
        this.#brokenMs.set(keyOf(host), this.#timeline.monotonic());
      const isNews =
        before !== undefined && after !== undefined && describe(before) !== describe(after);
      if (isNews) this.#foreignMs.set(keyOf(host), this.#timeline.monotonic());
      return;
    }
    this.writes += 1;
    if (before === undefined || after === undefined) {
      return this.#accuse(`${author} makes or deletes ${keyOf(host)}`);
    }
    if (!isEqual(withoutOurs(before), withoutOurs(after))) {
      this.#accuse(`${author} changes more than its labels of ${keyOf(host)}`);
    }
    // Somebody removed or changed its labels, and Landfall writes them again.
    if (now !== undefined && now !== "" && this.#isRecorded(now, after)) return;
    if (old === "" && now !== "") this.#judgeTaken(author, before, after);
    else if (old !== "" && now === "") this.#judgeGiven(author, before);
    else if (old !== now) this.#accuse(`${author} moves ${keyOf(host)} from ${old} to ${now}`);
  }

  /** While no process leads, none can write down that a host was well in between. */
  #forgetErrors(): void {
    if (this.#brokenMs.size === 0) return;
    for (const host of this.#server.objects.list("baremetalhosts")) {
      if (isBroken(host) || !this.#brokenMs.has(keyOf(host))) continue;
      const isSaid = [...this.#said.values()].some((all) => {
        const { cluster } = all.at(-1) ?? {};
        return cluster !== undefined && findRecord(cluster, host)?.["errorSince"] !== undefined;
      });
      if (!isSaid) this.#brokenMs.delete(keyOf(host));
    }
  }

  /** Whether the status of a cluster had the host before its labels were written. */
  #isRecorded(key: string, host: ApiObject): boolean {
    const { cluster } = this.#said.get(key)?.at(-1) ?? {};
    return cluster !== undefined && isRecorded(cluster, host);
  }

  #judgeTaken(author: string, before: ApiObject, after: ApiObject): void {
    const [key, cluster] = [keyOf(after), clusterOf(after)];
    const trouble = troubleOf(before);
    if (trouble !== "") this.#accuse(`${author} takes ${key}, which is ${trouble}`);
    if (consumerOf(before) !== undefined) this.#accuse(`${author} takes ${key}, which is used`);
    const state = stateOf(before);
    if (state !== "available") this.#accuse(`${author} takes ${key}, which is ${state}`);
    const said = this.#saidLately(cluster);
    if (said.length === 0) this.#accuse(`${author} takes ${key} for ${cluster}, which is gone`);
    const role = ROLES.find((one) => one === labelOf(after, LABELS.role));
    if (role === undefined) return this.#accuse(`${author} takes ${key} for no role`);
    const others = this.#server.objects
      .list("baremetalhosts")
      .filter((one) => clusterOf(one) === cluster && labelOf(one, LABELS.role) === role);
    this.#judgeCount(author, { cluster, role, said, others });
    const isSpread = said.every((one) => readWish(one, role).isSpread);
    const near = others.filter((one) => rackOf(one) === rackOf(after) && this.#isOldNews(one));
    if (isSpread && near.length > 1) {
      this.#accuse(`${author} takes ${key} of ${cluster} beside ${near.map(keyOf).join(", ")}`);
    }
  }

  /** Never more than wanted: hosts that are well, and that nobody else changed lately. */
  #judgeCount(
    author: string,
    {
      cluster,
      role,
      said,
      others,
    }: {
      readonly cluster: string;
      readonly role: Role;
      readonly said: readonly ApiObject[];
      readonly others: readonly ApiObject[];
    },
  ): void {
    const most = Math.max(...said.map((one) => readWish(one, role).count));
    const sound = others.filter((one) => troubleOf(one) === "" && this.#isOldNews(one));
    if (sound.length <= most) return;
    this.#accuse(`${author} gives ${cluster} ${sound.length} ${role}, and it wants ${most}`);
  }

  #judgeGiven(author: string, before: ApiObject): void {
    const [key, cluster] = [keyOf(before), clusterOf(before)];
    const said = this.#saidLately(cluster);
    if (said.some(mayTakeUsed)) return;
    if (consumerOf(before) !== undefined) {
      this.#accuse(`${author} gives ${key} of ${cluster} back, which is used`);
    }
    if (isPaused(before))
      this.#accuse(`${author} gives ${key} of ${cluster} back, which is paused`);
    const brokenMs = this.#timeline.monotonic() - (this.#brokenMs.get(key) ?? -Infinity);
    if (troubleOf(before) !== "in error" || brokenMs >= ERROR_GRACE_MS - EARLY_MS) return;
    const all = this.#said.get(cluster) ?? [];
    // The record names a host until its labels are gone. What has labels alone was never taken, so nothing replaces it.
    const newest = all.at(-1);
    if (newest === undefined || findRecord(newest.cluster, before) === undefined) return;
    const last = all.findLast((one) => isRecorded(one.cluster, before))?.cluster;
    const role = last && findRole(last, before);
    if (last === undefined || role === undefined) return;
    const hosts = this.#server.objects.list("baremetalhosts");
    const had = hosts.filter((host) => findRole(last, host) === role);
    // Without too many hosts, one goes only because another one comes.
    const isWanted = (one: ApiObject): boolean =>
      !isLeaving(one) && readWish(one, role).count >= had.length;
    if (said.every(isWanted))
      this.#accuse(`${author} replaces ${key} of ${cluster}, in error for ${brokenMs} ms`);
  }

  /** What a process may believe a cluster wants: all that it wanted lately. */
  #saidLately(key: string): readonly ApiObject[] {
    const all = this.#said.get(key) ?? [];
    const sinceMs = this.#timeline.monotonic() - NEWS_MS;
    const at = all.findLastIndex(({ atMs }) => atMs <= sinceMs);
    return all.slice(Math.max(0, at)).map(({ cluster }) => cluster);
  }

  #isOldNews(host: ApiObject): boolean {
    const atMs = this.#foreignMs.get(keyOf(host)) ?? -Infinity;
    return this.#timeline.monotonic() - atMs > NEWS_MS;
  }

  #accuse(what: string): void {
    this.violations.push(what);
    this.#trace.note("JUDGE", what);
  }
}

/** `namespace/name`. */
export function keyOf({ metadata }: ApiObject): string {
  return `${String(metadata["namespace"])}/${metadata.name}`;
}

/** What a process must know of a host to count it right. */
function describe(host: ApiObject): string {
  return [clusterOf(host), labelOf(host, LABELS.role), troubleOf(host), rackOf(host)].join(" ");
}

function withoutOurs({ metadata, ...rest }: ApiObject): JsonObject {
  const { resourceVersion: _version, generation: _generation, ...kept } = metadata;
  const labels = Object.entries(objectAt(metadata, "labels"));
  const theirs = labels.filter(([key]) => !key.startsWith("sip.airshipit.org/"));
  return { ...rest, metadata: { ...kept, labels: Object.fromEntries(theirs) } };
}
