/**
 * Brings one object of a cluster to what is wanted, or deletes it. What was sent is remembered, so that nothing is
 * sent twice.
 * @module
 */
import { findFixed, isAsWanted, pickWanted } from "../../../kinds/compare.ts";
import { describeCause, describeRefusal } from "../../../kinds/problems.ts";
import type { SipCluster } from "../../resource/sip_cluster.ts";
import {
  type ObjectId,
  type OwnedViews,
  type WantedObject,
  isOwnedBy,
  judgeOwnership,
  toId,
} from "./objects.ts";
import { DEPLOYMENTS } from "../owned_kinds.ts";
import type { OwnedObject } from "../types.ts";
import { COMPONENT } from "../../words.ts";
import type { Clock } from "../../../../core/clock.ts";
import { describeError } from "../../../../core/errors.ts";
import { hashContent } from "../../../../core/text/label.ts";
import { isFields } from "../../../../core/text/values.ts";
import { Contest } from "../../../../engine/throttle.ts";
import { type KubeClient, readIfPresent } from "../../../../kube/api/client.ts";
import { KubeError, isKubeError } from "../../../../kube/api/errors.ts";
import { type Key, toKey } from "../../../../kube/cache/store.ts";
import type { KubeObject, Resource } from "../../../../kube/kinds/resource.ts";

/** Why an object is not as wanted. */
interface Refusal {
  /** For a condition. */
  readonly reason: string;
  /** One sentence, without a full stop. */
  readonly message: string;
}

/** Reasons of conditions. */
export const REASONS = {
  /** A node port is taken or out of range. */
  nodePort: "NodePortUnavailable",
  /** An object of the same name belongs to something else. */
  notOurs: "NameTaken",
  /** The API server refuses the object, or does not know its kind or namespace. */
  refused: "ObjectRefused",
  /** A right is missing, a quota is used up, or an admission plugin refuses. */
  forbidden: "Forbidden",
  /** Another program changes the object again after each correction. */
  contested: "Contested",
  /** Kubernetes still deletes what stood there. */
  waits: "Progressing",
} as const;

/** Names an object in messages: `Service jumphost-a`. */
function nameObject({ kind, metadata }: OwnedObject["body"]): string {
  return `${kind} ${metadata.name}`;
}

/**
 * Turns an error into a refusal of one object, if another try of the same soon would end the same.
 *
 * @param findHolder Returns the name of the Service in the same namespace that has a node port, if there is one
 * @returns `undefined` for any other error: the whole must be tried again
 */
export function toRefusal(
  error: unknown,
  { body }: OwnedObject,
  findHolder: (nodePort: number) => string | undefined,
): Refusal | undefined {
  if (!(error instanceof KubeError)) return undefined;
  const what = nameObject(body);
  if (error.kind === "forbidden") {
    return { reason: REASONS.forbidden, message: `${what}: ${describeCause(error)}` };
  }
  if (error.kind === "notFound" || error.kind === "alreadyExists") {
    return { reason: REASONS.refused, message: `${what}: ${describeError(error)}` };
  }
  if (error.kind !== "invalid") return undefined;
  const taken = error.fields.flatMap(({ field, message }) => {
    const port = findNodePort(body, field);
    if (port === undefined) return [];
    const holder = findHolder(port);
    const way = `, by Service ${holder}. To swap ports, give one of the two another port first`;
    return [`node port ${port}: ${message}${holder === undefined ? "" : way}`];
  });
  if (taken.length > 0)
    return { reason: REASONS.nodePort, message: `${what} cannot have ${taken.join(", ")}` };
  return {
    reason: REASONS.refused,
    message: `${what} is refused: ${describeRefusal(error, body.kind)}`,
  };
}

/** The node port at the path of a field, such as `spec.ports[0].nodePort`. */
function findNodePort(body: OwnedObject["body"], field: string): number | undefined {
  const [, at] = /^spec\.ports\[(\d+)\]\.nodePort$/.exec(field) ?? [];
  const spec: unknown = "spec" in body ? body.spec : undefined;
  const ports: unknown = isFields(spec) ? spec["ports"] : undefined;
  const port: unknown = Array.isArray(ports) && at !== undefined ? ports[Number(at)] : undefined;
  const nodePort = isFields(port) ? port["nodePort"] : undefined;
  return typeof nodePort === "number" ? nodePort : undefined;
}

/** A list of which every item is ours. Fields that say the same in two items make them one. */
interface OwnList {
  readonly path: readonly string[];
  readonly keys: readonly string[];
}

const POD = ["spec", "template", "spec"];
const LISTS: Readonly<Record<string, readonly OwnList[]>> = {
  Deployment: [
    { path: [...POD, "containers"], keys: ["name"] },
    { path: [...POD, "initContainers"], keys: ["name"] },
  ],
  Service: [{ path: ["spec", "ports"], keys: ["port", "protocol"] }],
};
/** Maps of which every key is ours. */
const MAPS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  Service: [["spec", "selector"]],
};

/**
 * Finds containers, ports and keys of a selector that are not wanted. A Service with another key in its selector finds
 * no Pod, and a container beside ours sees the same files.
 *
 * @returns The body of a merge patch that removes them; `undefined` if there are none
 */
function findForeign(live: KubeObject, wanted: KubeObject): object | undefined {
  const { kind = "" } = wanted;
  const changes: (readonly [readonly string[], unknown])[] = [];
  for (const { path, keys } of LISTS[kind] ?? []) {
    const [items, ours] = [readList(live, path), readList(wanted, path)];
    const names = new Set(ours.map((item) => toName(item, keys)));
    const kept = items.filter((item) => names.has(toName(item, keys)));
    if (kept.length < items.length) changes.push([path, kept.length === 0 ? null : kept]);
  }
  for (const path of MAPS[kind] ?? []) {
    const ours = readField(wanted, path);
    const entries = Object.keys(toFields(readField(live, path)));
    const foreign = entries.filter((key) => !Object.hasOwn(toFields(ours), key));
    for (const key of foreign) changes.push([[...path, key], null]);
  }
  if (changes.length === 0) return undefined;
  const body: Record<string, unknown> = {};
  for (const [path, value] of changes) write(body, path, value);
  return body;
}

function toName(item: unknown, keys: readonly string[]): string {
  const fields = toFields(item);
  return keys.map((key) => String(fields[key] ?? DEFAULTS[key] ?? "")).join("/");
}

const DEFAULTS: Readonly<Record<string, string>> = { protocol: "TCP" };

function readList(object: KubeObject, path: readonly string[]): readonly unknown[] {
  const value = readField(object, path);
  return Array.isArray(value) ? value : [];
}

function readField(object: KubeObject, path: readonly string[]): unknown {
  let value: unknown = object;
  for (const name of path) value = toFields(value)[name];
  return value;
}

function toFields(value: unknown): Readonly<Record<string, unknown>> {
  return isFields(value) ? value : {};
}

function write(body: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [name = "", ...rest] = path;
  if (rest.length === 0) {
    body[name] = value;
    return;
  }
  const inner: Record<string, unknown> = { ...toFields(body[name]) };
  write(inner, rest, value);
  body[name] = inner;
}

/** What became of one object. */
interface Outcome {
  readonly isWritten: boolean;
  /** Whether it was as wanted before, and another program changed or deleted it. @default {false} */
  readonly isCorrection?: boolean;
  /** Why it is not as wanted. */
  readonly refusal?: Refusal;
  /** When to look at it again although nothing changed, in milliseconds. */
  readonly againMs: number;
}

/** An object to delete. */
export interface Target {
  readonly resource: Resource<KubeObject>;
  readonly name: string;
  /** As a view shows it. @default {it is read} */
  readonly live?: KubeObject;
}

/** How often an object that is not watched is read: then what others changed or deleted comes back. */
export const CHECK_INTERVAL_MS = 600_000;
/** How soon to try again what was refused: a node port becomes free, a quota grows. */
const REFUSED_PAUSE_MS = 60_000;
/** How soon to look whether an object that is being deleted is gone. */
const DELETED_PAUSE_MS = 5_000;

/** Applies single objects. */
export class ObjectApplier {
  readonly sent: SentObjects;
  readonly #client: KubeClient;
  readonly #views: OwnedViews;
  readonly #contest: Contest;

  constructor(client: KubeClient, clock: Clock, views: OwnedViews) {
    this.#client = client;
    this.#views = views;
    this.sent = new SentObjects(clock);
    this.#contest = new Contest(clock);
  }

  /**
   * Brings an object to what is wanted. Sends nothing if it is so.
   *
   * @throws {KubeError} if another try may help
   */
  async apply(cluster: SipCluster, wanted: WantedObject, signal: AbortSignal): Promise<Outcome> {
    const key = toKey(cluster);
    const view = this.#views.find(wanted.resource.kind);
    const seen = view?.get(toKey(wanted.body));
    if (view === undefined) {
      const leftMs = CHECK_INTERVAL_MS - this.sent.ageMs(key, wanted);
      if (leftMs > 0) return { isWritten: false, againMs: leftMs };
    }
    try {
      const isWhole = seen !== undefined && !seen.metadata.isStub;
      const live = isWhole ? seen : await this.#read(wanted, signal);
      return await this.#settle(cluster, wanted, live, signal);
    } catch (error) {
      return this.#refuse(wanted, error);
    }
  }

  /**
   * Deletes an object if the cluster owns it.
   *
   * @returns Whether to wait for it: a deletion takes time, and a view shows its end later. Not for a finalizer that
   * another program set, maybe a Pod of a tenant: Pods go with their Deployment, which is waited for
   * @throws {KubeError}
   */
  async remove(cluster: SipCluster, target: Target, signal: AbortSignal): Promise<boolean> {
    const { apiVersion, kind } = target.resource;
    const { namespace = "" } = cluster.metadata;
    const metadata = { name: target.name, namespace };
    const object = { resource: target.resource, body: { apiVersion, kind, metadata } };
    const live = target.live ?? (await this.#read(object, signal));
    if (live === undefined || !isOwnedBy(live, cluster)) return false;
    this.sent.forgetObject(toKey(cluster), toId(object.body));
    if (live.metadata.deletionTimestamp !== undefined) return kind === DEPLOYMENTS.kind;
    await this.#delete(object.resource, live, signal);
    return true;
  }

  /** Reads the objects of a cluster that are not watched the next time. */
  readAgain(cluster: Key): void {
    const isUnwatched = (id: ObjectId): boolean =>
      this.#views.find(id.split("/")[0] ?? "") === undefined;
    this.sent.makeOld(cluster, CHECK_INTERVAL_MS, isUnwatched);
  }

  /** Forgets a cluster that is gone. */
  forget(cluster: Key): void {
    for (const id of this.sent.forget(cluster)) this.#contest.forget(toPlace(cluster, id));
  }

  async #settle(
    cluster: SipCluster,
    wanted: WantedObject,
    live: KubeObject | undefined,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const key = toKey(cluster);
    const what = nameObject(wanted.body);
    if (live === undefined) return await this.#write(cluster, wanted, undefined, signal);
    const ownership = judgeOwnership(live, cluster);
    if (!ownership.isOurs) return refused(REASONS.notOurs, `${what} ${ownership.why}`);
    if (live.metadata.deletionTimestamp !== undefined)
      return waits(`${what} is being deleted, and is made again then`);
    const isWhole = isAsWanted(live, wanted.body) && findForeign(live, wanted.body) === undefined;
    if (isWhole || this.sent.isSettled(key, wanted, live)) {
      if (this.#views.find(wanted.resource.kind) === undefined) this.sent.noteChecked(key, wanted);
      return { isWritten: false, againMs: CHECK_INTERVAL_MS };
    }
    const obstacle = findObstacle(live, wanted.body, ownership.isOriginal);
    if (obstacle === undefined) return await this.#write(cluster, wanted, live, signal);
    await this.#delete(wanted.resource, live, signal);
    return waits(`${what} is made again, because ${obstacle}`);
  }

  async #write(
    cluster: SipCluster,
    wanted: WantedObject,
    live: KubeObject | undefined,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const key = toKey(cluster);
    const place = toPlace(key, wanted.id);
    const isCorrection = this.sent.ageMs(key, wanted) < Infinity;
    const pauseMs = isCorrection ? this.#contest.pauseMs(place) : 0;
    if (pauseMs > 0) {
      const message = `${nameObject(wanted.body)} is changed by another program again and again`;
      return {
        isWritten: false,
        refusal: { reason: REASONS.contested, message },
        againMs: pauseMs,
      };
    }
    const { metadata } = wanted.body;
    const { uid } = live?.metadata ?? {};
    const { name, namespace = "" } = metadata;
    // The UID: another object of this name that appeared since is not written.
    const body = { ...wanted.body, metadata: { ...metadata, ...(uid !== undefined && { uid }) } };
    const patch = { type: "apply", body, fieldManager: COMPONENT } as const;
    const applied = await this.#client.patch(wanted.resource, { namespace, name }, patch, signal);
    const after = await this.#clean(wanted, applied, signal);
    this.sent.noteWritten(key, wanted, after);
    if (isCorrection) this.#contest.noteRound(place);
    return { isWritten: true, isCorrection, againMs: CHECK_INTERVAL_MS };
  }

  /** Removes what others added. What an admission webhook adds to every write is there again, and stays. */
  async #clean(
    { resource, body: wanted }: WantedObject,
    applied: KubeObject,
    signal: AbortSignal,
  ): Promise<KubeObject> {
    const foreign = findForeign(applied, wanted);
    if (foreign === undefined) return applied;
    const { name, namespace = "", resourceVersion } = applied.metadata;
    const body = { ...foreign, metadata: { resourceVersion } };
    const patch = { type: "merge", body, fieldManager: COMPONENT } as const;
    return await this.#client.patch(resource, { namespace, name }, patch, signal);
  }

  #refuse(wanted: WantedObject, error: unknown): Outcome {
    const refusal = toRefusal(error, wanted, (port) =>
      this.#views.findPortHolder(port, wanted.body.metadata),
    );
    if (refusal === undefined) throw error;
    return { isWritten: false, refusal, againMs: REFUSED_PAUSE_MS };
  }

  #read(
    { resource, body }: Pick<WantedObject, "resource" | "body">,
    signal: AbortSignal,
  ): Promise<KubeObject | undefined> {
    const { name, namespace = "" } = body.metadata;
    return readIfPresent(this.#client, resource, { name, namespace }, signal);
  }

  /** Deletes an object that was looked at, and no other of its name. */
  async #delete(
    resource: Resource<KubeObject>,
    { metadata }: KubeObject,
    signal: AbortSignal,
  ): Promise<void> {
    const { name, namespace = "", uid } = metadata;
    // So it is there until its Pods are gone.
    const isWithPods = resource.kind === DEPLOYMENTS.kind;
    const options = {
      ...(uid !== undefined && { uid }),
      ...(isWithPods && { propagationPolicy: "Foreground" as const }),
    };
    try {
      await this.#client.delete(resource, { name, namespace }, options, signal);
    } catch (error) {
      if (!isKubeError(error, "notFound")) throw error;
    }
  }
}

/** Names an object among those of all clusters. */
function toPlace(cluster: Key, id: ObjectId): string {
  return `${cluster} ${id}`;
}

/** Why an object cannot be changed into what is wanted. */
function findObstacle(
  live: KubeObject,
  wanted: KubeObject,
  isOriginal: boolean,
): string | undefined {
  // Its Pods are bound to Nodes that no cluster has any more, and what another manager set would stay.
  if (isOriginal && wanted.kind === DEPLOYMENTS.kind) return "the original operator made it";
  const fixed = findFixed(live, wanted);
  return fixed === undefined ? undefined : `Kubernetes does not change its ${fixed}`;
}

function refused(reason: string, message: string): Outcome {
  return { isWritten: false, refusal: { reason, message }, againMs: REFUSED_PAUSE_MS };
}

function waits(message: string): Outcome {
  const refusal = { reason: REASONS.waits, message };
  return { isWritten: true, refusal, againMs: DELETED_PAUSE_MS };
}

/** What is known of an object since it was last written or read. Only hashes are kept. */
interface Sent {
  /** Of what was wanted. */
  readonly hash: string;
  /** Monotonic milliseconds. */
  readonly atMs: number;
  /** Hash of what the API server shows in place of what is wanted, if it stores it in another form. */
  readonly shown?: string;
}

/** What was sent for the objects of all clusters. It is empty after a start: then objects are compared. */
class SentObjects {
  readonly #clock: Clock;
  readonly #clusters = new Map<Key, Map<ObjectId, Sent>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Notes that an object was written. @param after As the API server has it */
  noteWritten(cluster: Key, { id, hash, body }: WantedObject, after: KubeObject): void {
    this.#put(cluster, id, {
      hash,
      atMs: this.#clock.monotonic(),
      ...(!isAsWanted(after, body) && { shown: hashShown(after, body) }),
    });
  }

  /** Notes that an object was read, and need not be written. */
  noteChecked(cluster: Key, { id, hash }: WantedObject): void {
    const sent = this.#find(cluster, id);
    const { shown } = sent?.hash === hash ? sent : {};
    const atMs = this.#clock.monotonic();
    this.#put(cluster, id, { hash, atMs, ...(shown !== undefined && { shown }) });
  }

  /** How many milliseconds ago an object was as wanted now; `Infinity` if that is not known. */
  ageMs(cluster: Key, { id, hash }: WantedObject): number {
    const sent = this.#find(cluster, id);
    return sent?.hash === hash ? this.#clock.monotonic() - sent.atMs : Infinity;
  }

  /** Makes objects look as old as this, so that they are read again. */
  makeOld(cluster: Key, ageMs: number, isMeant: (id: ObjectId) => boolean): void {
    const atMs = this.#clock.monotonic() - ageMs;
    for (const [id, sent] of this.#clusters.get(cluster) ?? []) {
      if (isMeant(id)) this.#put(cluster, id, { ...sent, atMs: Math.min(sent.atMs, atMs) });
    }
  }

  /** Whether an object was written as wanted and was not changed since in these fields. */
  isSettled(cluster: Key, { id, hash, body }: WantedObject, live: KubeObject): boolean {
    const sent = this.#find(cluster, id);
    return sent?.hash === hash && sent.shown !== undefined && sent.shown === hashShown(live, body);
  }

  /** Forgets an object. */
  forgetObject(cluster: Key, id: ObjectId): void {
    this.#clusters.get(cluster)?.delete(id);
  }

  /** Forgets a cluster. @returns Its objects */
  forget(cluster: Key): Iterable<ObjectId> {
    const ids = this.#clusters.get(cluster)?.keys() ?? [];
    this.#clusters.delete(cluster);
    return ids;
  }

  #find(cluster: Key, id: ObjectId): Sent | undefined {
    return this.#clusters.get(cluster)?.get(id);
  }

  #put(cluster: Key, id: ObjectId, sent: Sent): void {
    const objects = this.#clusters.get(cluster) ?? new Map<ObjectId, Sent>();
    this.#clusters.set(cluster, objects.set(id, sent));
  }
}

function hashShown(live: KubeObject, wanted: KubeObject): string {
  return hashContent(JSON.stringify(pickWanted(live, wanted)));
}
