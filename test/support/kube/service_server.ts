/**
 * An API server that knows Services and one namespace, in memory and on any clock: versions, finalizers and the status
 * subresource count.
 * @module
 */
import { KubeError, type KubeErrorKind } from "../../../lib/kube/api/errors.ts";
import type { ListPage } from "../../../lib/kube/api/client.ts";
import { type Key, type Store, toKey } from "../../../lib/kube/cache/store.ts";
import type { Service } from "../../../lib/kube/kinds/service.ts";
import type { KubeObject, ObjectPath, Resource } from "../../../lib/kube/kinds/resource.ts";
import { applyMergePatch } from "../../../lib/simulator/kubernetes/patches/merge_patches.ts";
import type { JsonObject } from "../../../lib/simulator/kubernetes/patches/json.ts";
import type { Clock } from "../../../lib/core/clock.ts";
import { ScriptedKubeClient, type Write } from "./scripted_kube_client.ts";

/** The fields of a new Service; the rest is that of a Service with one port. */
export interface ServiceInput {
  readonly metadata?: Partial<Service["metadata"]>;
  readonly spec?: Service["spec"];
  readonly status?: Service["status"];
}

/** Its Services, and the client that talks to it. What happens is in the store at once, unless `isWatchHeld`. */
export class ServiceServer extends ScriptedKubeClient {
  readonly #store: Store<Service>;
  readonly #services = new Map<Key, Service>();
  #version = 1_000;
  #uids = 0;
  /** While true, the store learns nothing. */
  isWatchHeld = false;
  /** Whether the server keeps `ipMode`: it fills in VIP, or drops the field. */
  keepsIpMode = true;
  /** UID of namespace kube-system, or how its read is refused. */
  namespace: string | KubeErrorKind = "cluster-1";
  /** Called before a write is done; may throw. */
  beforeWrite: (write: Write) => void = () => undefined;

  constructor(clock: Clock, store: Store<Service>) {
    super(clock);
    this.#store = store;
    this.feed(store);
    this.onWrite = (write) => {
      this.beforeWrite(write);
      return this.#patch(write);
    };
  }

  override async list<T extends KubeObject>(): Promise<ListPage<T>> {
    this.requests.push("list services");
    const items = [...this.#services.values()] as KubeObject[] as T[];
    return { items, resourceVersion: String(this.#version) };
  }

  override async read<T extends KubeObject>(
    resource: Resource<T>,
    { name = "", namespace = "" }: ObjectPath,
    signal?: AbortSignal,
  ): Promise<T> {
    this.requests.push(`read ${resource.plural} ${namespace}/${name}`);
    signal?.throwIfAborted();
    if (resource.plural === "namespaces") return this.#readNamespace(name) as KubeObject as T;
    const answer = this.#demand(`${namespace}/${name}`) as KubeObject as T;
    return await this.tell(resource, { name, namespace }, Promise.resolve(answer));
  }

  /** The bodies of the patches of a Service, in order. */
  listPatches(key: Key): Write["body"][] {
    return this.writes
      .filter(({ path }) => `${path.namespace}/${path.name}` === key)
      .map(({ body }) => body);
  }

  find(key: Key): Service | undefined {
    return this.#services.get(key);
  }

  /** Creates a Service of type LoadBalancer, as a person would. */
  add(name: string, input: ServiceInput = {}): Service {
    this.#uids += 1;
    const metadata = { namespace: "web", uid: `uid-${this.#uids}`, ...input.metadata, name };
    const ports = [{ port: 80, protocol: "TCP", nodePort: 30_080 }];
    const spec = { type: "LoadBalancer", ports, ...input.spec };
    return this.#put({ metadata, spec, ...(input.status && { status: input.status }) });
  }

  /** Changes a Service by a merge patch, as a person would. */
  change(key: Key, patch: JsonObject): Service | undefined {
    return this.#keep(applyMergePatch(this.#demand(key) as never, patch) as never);
  }

  /** Deletes a Service, as a person would. */
  remove(key: Key): void {
    const service = this.#demand(key);
    const deletionTimestamp = "2026-01-01T00:00:00Z";
    this.#keep({ ...service, metadata: { ...service.metadata, deletionTimestamp } });
  }

  /** The store learns what it missed. */
  releaseWatch(): void {
    this.isWatchHeld = false;
    this.#store.replace(this.#services.values(), String(this.#version));
  }

  #readNamespace(name: string): KubeObject {
    const refusals: readonly string[] = ["forbidden", "notFound", "unavailable"];
    if (refusals.includes(this.namespace)) {
      throw new KubeError(this.namespace as KubeErrorKind, `namespaces: ${this.namespace}`);
    }
    return { metadata: { name, uid: this.namespace } };
  }

  #patch({ path: { namespace = "", name = "", subresource }, body }: Write): Service {
    const service = this.#demand(`${namespace}/${name}`);
    const { resourceVersion } = service.metadata;
    const { metadata } = body as { metadata?: { resourceVersion?: string } };
    const given = metadata?.resourceVersion;
    if (given !== undefined && given !== resourceVersion) {
      throw new KubeError("conflict", "the object has been modified");
    }
    const next = applyMergePatch(service as never, body as JsonObject) as never as Service;
    const isStatus = subresource === "status";
    const after = {
      ...next,
      [isStatus ? "spec" : "status"]: service[isStatus ? "spec" : "status"],
    };
    return this.#keep(this.#toServed(after)) ?? after;
  }

  /** Fills `ipMode` in, or drops it, as newer and older servers do. */
  #toServed(service: Service): Service {
    const ingress = service.status?.loadBalancer?.ingress;
    if (ingress === undefined) return service;
    const served = ingress.map(({ ipMode, ...entry }) => {
      return this.keepsIpMode && entry.ip ? { ...entry, ipMode: ipMode ?? "VIP" } : entry;
    });
    return { ...service, status: { loadBalancer: { ingress: served } } };
  }

  /** @returns `undefined` if the object is gone by that */
  #keep(service: Service): Service | undefined {
    const { deletionTimestamp, finalizers = [] } = service.metadata;
    if (deletionTimestamp === undefined || finalizers.length > 0) return this.#put(service);
    this.#services.delete(toKey(service));
    if (!this.isWatchHeld) this.#store.remove(structuredClone(service));
    return undefined;
  }

  #put(service: Service): Service {
    this.#version += 1;
    const metadata = { ...service.metadata, resourceVersion: String(this.#version) };
    const stored: Service = { ...service, metadata };
    this.#services.set(toKey(stored), structuredClone(stored));
    if (!this.isWatchHeld) {
      this.#store.apply(structuredClone(stored));
      this.#store.reach(String(this.#version));
    }
    return structuredClone(stored);
  }

  #demand(key: Key): Service {
    const service = this.#services.get(key);
    if (service === undefined) throw new KubeError("notFound", `services "${key}" not found`);
    return structuredClone(service);
  }
}
