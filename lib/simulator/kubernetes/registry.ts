/**
 * Writes objects by the rules of the API server: versions, preconditions, the status subresource, finalizers.
 * @module
 */
import { type Clock, formatTime } from "../../core/clock.ts";
import {
  alreadyExists,
  ApiError,
  applyConflict,
  badRequest,
  invalid,
  notFound,
} from "./api_error.ts";
import { Completion } from "./completion.ts";
import { applyWish, listConflicts } from "./patches/apply_patch.ts";
import { type ApiObject, isEqual, type JsonObject, objectAt, stringAt } from "./patches/json.ts";
import { type CustomKind, defineCustomKind, type Kind } from "./schema/kind.ts";
import { KINDS } from "./schema/kinds.ts";
import { Collection, Stored, VersionCounter } from "./store.ts";
import {
  carryOver,
  checkIdentity,
  checkPrecondition,
  type Deletion,
  finalizersOf,
  isDeleting,
  keyOf,
  type Preconditions,
  subjectOf,
  type Target,
  toGeneration,
  toKept,
  withMetadata,
  type WriteOptions,
} from "./writes.ts";

/** Options of a server-side apply. */
interface ApplyOptions {
  readonly manager: string;
  /** Takes fields over from other managers. */
  readonly force: boolean;
}

/** All objects, and the rules by which they change. */
export class Registry {
  readonly versions: VersionCounter = new VersionCounter();
  readonly #clock: Clock;
  readonly #historyMax: number;
  /** What each manager applied last, by UID and manager. */
  readonly #applied = new Map<string, JsonObject>();
  readonly #collections = new Map<Kind, Collection>();
  /** The keys of the collections, which each request asks for. */
  #kinds: readonly Kind[] = KINDS;
  readonly #completion: Completion;

  /** @param historyMax Number of changes of each kind to keep */
  constructor(clock: Clock, historyMax: number) {
    this.#clock = clock;
    this.#historyMax = historyMax;
    for (const kind of KINDS)
      this.#collections.set(kind, new Collection(this.versions, historyMax));
    this.#completion = new Completion(this.collection(this.#builtIn("Service")));
    for (const object of FIRST_OBJECTS) {
      const metadata = objectAt(object, "metadata");
      const [name, namespace] = [stringAt(metadata, "name"), stringAt(metadata, "namespace")];
      const kind = this.#builtIn(stringAt(object, "kind"));
      this.create({ kind, namespace, name, subresource: "" }, object);
    }
  }

  /** The kinds that the server has now: the built-in ones, then the installed ones. */
  get kinds(): readonly Kind[] {
    return this.#kinds;
  }

  /** Serves one more kind from now on. */
  install(custom: CustomKind): void {
    this.#collections.set(
      defineCustomKind(custom),
      new Collection(this.versions, this.#historyMax),
    );
    this.#kinds = [...this.#collections.keys()];
  }

  /** Removes an installed kind and all its objects, even with finalizers. @throws TypeError when there is none */
  uninstall(plural: string): Kind {
    const kind = this.kinds.find((one) => one.isCustom && one.plural === plural);
    if (kind === undefined) throw new TypeError(`Cannot remove kind: ${plural}`);
    const collection = this.collection(kind);
    for (const [key] of collection.entries()) collection.remove(key);
    this.#collections.delete(kind);
    this.#kinds = [...this.#collections.keys()];
    return kind;
  }

  collection(kind: Kind): Collection {
    const collection = this.#collections.get(kind);
    if (collection === undefined) throw new TypeError(`Cannot find collection: ${kind.plural}`);
    return collection;
  }

  has(target: Target): boolean {
    return this.collection(target.kind).get(keyOf(target)) !== undefined;
  }

  /** @throws ApiError 404 */
  read(target: Target): Stored {
    const stored = this.collection(target.kind).get(keyOf(target));
    if (stored === undefined) throw notFound(subjectOf(target));
    return stored;
  }

  /** @throws ApiError 409 when it exists, 404 without its namespace, 400 or 422 when it is wrong */
  create(target: Target, body: JsonObject, options: WriteOptions = {}): Stored {
    const named = this.#named(target, body);
    const object = toKept(named, body, options);
    if (stringAt(objectAt(object, "metadata"), "resourceVersion") !== "") {
      throw new ApiError(
        400,
        "BadRequest",
        "resourceVersion should not be set on objects to be created",
      );
    }
    const collection = this.collection(target.kind);
    const key = keyOf(named);
    if (collection.get(key) !== undefined) throw alreadyExists(subjectOf(named));
    this.#requireNamespace(named);
    const whole = this.#completion.complete(named, object, undefined);
    const uid = crypto.randomUUID();
    const creationTimestamp = formatTime(this.#clock.now());
    const own = {
      uid,
      creationTimestamp,
      ...(target.kind.generations !== undefined && { generation: 1 }),
    };
    if (options.dryRun === true) return new Stored(withMetadata(whole, own));
    return collection.put(key, (resourceVersion) =>
      withMetadata(whole, { ...own, resourceVersion }),
    );
  }

  /**
   * Stores the result of `change`, if it differs from the object.
   *
   * @throws ApiError 404, 409 when `change` gives an old version or another UID, 400 or 422 when it is wrong
   */
  update(
    target: Target,
    change: (before: ApiObject) => JsonObject,
    options: WriteOptions = {},
  ): Stored {
    const stored = this.read(target);
    const before = stored.object;
    const proposed = toKept(target, change(before), options);
    checkIdentity(target, before, objectAt(proposed, "metadata"));
    const after = this.#completion.complete(target, carryOver(target, before, proposed), before);
    if (isEqual(after, before)) return stored;
    if (options.dryRun === true) return new Stored(withMetadata(after, {}));
    const collection = this.collection(target.kind);
    const key = keyOf(target);
    if (isDeleting(after) && finalizersOf(after).length === 0) {
      collection.remove(key);
      return new Stored(withMetadata(after, {}));
    }
    const generation = toGeneration(target, before, after);
    return collection.put(key, (resourceVersion) =>
      withMetadata(after, { ...objectAt(after, "metadata"), ...generation, resourceVersion }),
    );
  }

  /**
   * Applies the fields of one manager. Creates the object if it does not exist.
   *
   * @throws ApiError as {@linkcode create} and {@linkcode update} do; 409 where others changed a field, without `force`
   */
  apply(
    target: Target,
    wanted: JsonObject,
    { manager, force, ...options }: WriteOptions & ApplyOptions,
  ): { readonly stored: Stored; readonly isNew: boolean } {
    const isNew = !this.has(target);
    const before = isNew ? undefined : this.read(target).object;
    const wish = { last: this.#applied.get(`${before?.metadata.uid}/${manager}`) ?? {}, wanted };
    const { schema } = target.kind;
    const conflicts = before === undefined || force ? [] : listConflicts(schema, before, wish);
    if (conflicts.length > 0) throw applyConflict(conflicts);
    const stored = isNew
      ? this.create(target, wanted, options)
      : this.update(target, (object) => applyWish(schema, object, wish), options);
    if (options.dryRun !== true) {
      this.#applied.set(`${stored.object.metadata.uid}/${manager}`, wanted);
    }
    return { stored, isNew };
  }

  /** @throws ApiError 404, 409 when a precondition fails */
  delete(target: Target, preconditions: Preconditions = {}): Deletion {
    const stored = this.read(target);
    const { uid, resourceVersion } = stored.object.metadata;
    checkPrecondition(target, "UID", [preconditions.uid, uid]);
    const versions = [preconditions.resourceVersion, resourceVersion] as const;
    checkPrecondition(target, "ResourceVersion", versions);
    const collection = this.collection(target.kind);
    if (finalizersOf(stored.object).length === 0) {
      if (target.kind.kind === "Namespace") this.#empty(target.name);
      return { stored: collection.remove(keyOf(target)) ?? stored, gone: true };
    }
    if (isDeleting(stored.object)) return { stored, gone: false };
    const deletionTimestamp = formatTime(this.#clock.now());
    const marked = collection.put(keyOf(target), (version) =>
      withMetadata(stored.object, {
        ...stored.object.metadata,
        ...toGeneration(target, stored.object, undefined),
        resourceVersion: version,
        deletionTimestamp,
        deletionGracePeriodSeconds: 0,
      }),
    );
    return { stored: marked, gone: false };
  }

  /** Forgets all changes so far, of all kinds. */
  compact(): void {
    for (const collection of this.#collections.values()) collection.compact();
  }

  #empty(namespace: string): void {
    for (const [kind, collection] of this.#collections) {
      if (!kind.namespaced) continue;
      for (const [key] of collection.entries()) {
        if (key.startsWith(`${namespace}/`)) collection.remove(key);
      }
    }
  }

  #named(target: Target, body: JsonObject): Target {
    const metadata = objectAt(body, "metadata");
    const namespace = stringAt(metadata, "namespace");
    if (target.kind.namespaced && namespace !== "" && namespace !== target.namespace) {
      throw badRequest(
        "the namespace of the provided object does not match the namespace sent on the request",
      );
    }
    const name = stringAt(metadata, "name");
    const prefix = stringAt(metadata, "generateName");
    const suffix = (): string => crypto.randomUUID().replaceAll("-", "").slice(0, 5);
    const subject = { ...target, name: name === "" && prefix !== "" ? prefix + suffix() : name };
    if (subject.name !== "") return subject;
    const message = "Required value: name or generateName is required";
    const problem = { field: "metadata.name", reason: "FieldValueRequired", message };
    throw invalid(subjectOf(subject), [problem]);
  }

  #builtIn(name: string): Kind {
    const kind = this.kinds.find((one) => one.kind === name && !one.isCustom);
    if (kind === undefined) throw new TypeError(`Cannot find kind: ${name}`);
    return kind;
  }

  #requireNamespace(target: Target): void {
    if (!target.kind.namespaced) return;
    for (const [kind, collection] of this.#collections) {
      if (kind.kind !== "Namespace" || collection.get(target.namespace) !== undefined) continue;
      throw notFound({ group: "", resource: kind.plural, kind: kind.kind, name: target.namespace });
    }
  }
}

/** What every cluster has from its start. */
const FIRST_OBJECTS: readonly JsonObject[] = [
  ...["default", "kube-system", "kube-public", "kube-node-lease"].map((name) => ({
    kind: "Namespace",
    metadata: { name, namespace: "" },
    status: { phase: "Active" },
  })),
  {
    kind: "Service",
    metadata: {
      name: "kubernetes",
      namespace: "default",
      labels: { component: "apiserver", provider: "kubernetes" },
    },
    spec: { ports: [{ name: "https", port: 443, targetPort: 6443 }] },
  },
];
