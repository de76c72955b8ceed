/**
 * Landfall's requests to Xen Orchestra's REST API (`/rest/v0`, xo-server 5.112 or newer), the fields that it reads from
 * the answers, as in xo-server 5.207 and older, and the changes that Xen Orchestra reports as they happen (server-sent
 * events, since 5.113).
 * @module
 */
import * as v from "valibot";
import type { GenericSchema } from "valibot";
import { CloudError } from "../../cloud/errors.ts";
import type { ChangeHint } from "../../cloud/provider.ts";
import {
  ChangeFeed,
  type ChangeFeedOptions,
  type ChangeSource,
  type ServerSentEvent,
  Unsupported,
} from "../../cloud_http/change_feed.ts";
import {
  createUndecodableCounter,
  decode,
  decodeList,
  type ListReply,
} from "../../cloud_http/decode.ts";
import type { Reply } from "../../cloud_http/client.ts";
import type { Counter, MetricsRegistry } from "../../core/metrics.ts";
import { parseFields, parseUuid } from "../../core/text/values.ts";
import { isUnknownRoute, toReplyError } from "./session/reply_error.ts";
import { SERVER_NAMES, type Session } from "./session/session.ts";

/** A virtual machine. */
export interface Vm {
  readonly id: string;
  readonly $pool: string;
  readonly name_label?: string | null | undefined;
  /** `Running`, `Halted`, `Paused` or `Suspended`. */
  readonly power_state?: string | null | undefined;
  /** The host while the VM runs; otherwise the pool, or a host that holds one of its disks. */
  readonly $container?: string | null | undefined;
  readonly CPUs?: { readonly max?: number | null | undefined } | null | undefined;
  /** `static`: minimum and maximum configured memory in bytes. */
  readonly memory?: { readonly static?: readonly number[] | null | undefined } | null | undefined;
  /** Addresses by `<VIF device>/ipv4/<n>`. */
  readonly addresses?: Readonly<Record<string, string>> | null | undefined;
  readonly mainIpAddress?: string | null | undefined;
  readonly tags?: readonly string[] | null | undefined;
  /** Running operations by task: `migrate_send`, `pool_migrate` … `null` if the reply has another shape. */
  readonly current_operations?: Readonly<Record<string, unknown>> | null | undefined;
}

/** A hypervisor. */
export interface Host {
  readonly id: string;
  readonly $pool?: string | null | undefined;
  readonly name_label?: string | null | undefined;
  readonly tags?: readonly string[] | null | undefined;
  /** `Running` while it answers its pool, otherwise `Halted`. Only in a direct read of one host. */
  readonly power_state?: string | null | undefined;
  /** ID of its dom0, listed under `vm-controllers`. */
  readonly controlDomain?: string | null | undefined;
  /** Whether VMs can start on it. Only in lists that follow machines. */
  readonly enabled?: boolean | null | undefined;
}

/** A pool of hosts. */
export interface Pool {
  readonly id: string;
  readonly name_label?: string | null | undefined;
  /** ID of the host that leads it. */
  readonly master?: string | null | undefined;
}

/** A network. */
export interface Network {
  readonly id: string;
  readonly name_label?: string | null | undefined;
}

/** A network interface of a VM. */
export interface Vif {
  readonly id: string;
  /** Its number in the VM, as text or as a number. */
  readonly device?: unknown;
  readonly $VM?: string | null | undefined;
  /** ID of its network. */
  readonly $network?: unknown;
}

/** A connection of Xen Orchestra to a pool. */
export interface Server {
  readonly id: string;
  readonly label?: string | null | undefined;
  readonly host?: string | null | undefined;
  readonly enabled?: boolean | null | undefined;
  readonly status?: string | null | undefined;
  readonly poolId?: string | null | undefined;
}

/** An object that belongs to a pool. */
export interface PoolMember {
  readonly id: string;
  readonly $pool?: string | null | undefined;
}

const id = v.pipe(
  v.string(),
  v.nonEmpty(),
  v.transform((text) => text.toLowerCase()),
);
const isUuid = (text: string): boolean => parseUuid(text) === text;
const uuid = v.pipe(id, v.check(isUuid, "a UUID"));
const uuidOrNone = v.pipe(
  v.string(),
  v.transform((text) => text.toLowerCase()),
  v.check((text) => text === "" || isUuid(text), "a UUID"),
);
const text = v.nullish(v.string());
const texts = v.nullish(v.array(v.string()));

/** The objects that Landfall reads, by the words of their collections in paths. */
export interface Objects {
  readonly vms: Vm;
  readonly hosts: Host;
  readonly pools: Pool;
  readonly networks: Network;
  readonly vifs: Vif;
  readonly servers: Server;
  readonly "vm-controllers": PoolMember;
  readonly "vm-templates": PoolMember;
}

/** Which fields of an object to ask for, and how to read them. */
interface Collection<T> {
  /** The type that a 404 for one object names. */
  readonly type: string;
  /** Separated by commas. */
  readonly fields: string;
  /** Removes other fields. */
  readonly schema: GenericSchema<unknown, T>;
}

const POOL_MEMBER = v.object({ id, $pool: text });

export const COLLECTIONS: { readonly [C in keyof Objects]: Collection<Objects[C]> } = {
  vms: {
    type: "VM",
    fields:
      "id,name_label,power_state,CPUs,memory,mainIpAddress,addresses,$container,$pool,tags,current_operations",
    schema: v.object({
      // Both become part of the provider ID, which never changes.
      id: uuid,
      $pool: uuid,
      name_label: text,
      power_state: text,
      // It may become the zone. Some servers send "" instead of no value.
      $container: v.nullish(uuidOrNone),
      CPUs: v.nullish(v.object({ max: v.nullish(v.number()) })),
      memory: v.nullish(v.object({ static: v.nullish(v.array(v.number())) })),
      addresses: v.nullish(v.record(v.string(), v.string())),
      mainIpAddress: text,
      tags: texts,
      // A VM stays readable without it.
      current_operations: v.nullish(
        v.fallback(v.nullable(v.record(v.string(), v.unknown())), null),
      ),
    }),
  },
  hosts: {
    type: "host",
    fields: "id,name_label,$pool,tags,controlDomain",
    schema: v.object({
      id: uuid,
      $pool: text,
      name_label: text,
      tags: texts,
      controlDomain: text,
      power_state: text,
      enabled: v.nullish(v.boolean()),
    }),
  },
  pools: {
    type: "pool",
    fields: "id,name_label,master",
    schema: v.object({ id: uuid, name_label: text, master: text }),
  },
  networks: {
    type: "network",
    fields: "id,name_label",
    schema: v.object({ id, name_label: text }),
  },
  vifs: {
    type: "VIF",
    fields: "id,device,$VM,$network",
    // A problem with `device` or `$network` affects only their VM: see toDevices().
    schema: v.object({ id, device: v.unknown(), $VM: text, $network: v.unknown() }),
  },
  servers: {
    type: "server",
    fields: "id,label,host,enabled,status,poolId",
    schema: v.object({
      id,
      label: text,
      host: text,
      enabled: v.nullish(v.boolean()),
      status: text,
      poolId: text,
    }),
  },
  "vm-controllers": { type: "VM-controller", fields: "id,$pool", schema: POOL_MEMBER },
  "vm-templates": { type: "VM-template", fields: "id,$pool", schema: POOL_MEMBER },
};

/**
 * Answer to a request for one object. Only `missing` means that Xen Orchestra does not have it.
 *
 * Only two kinds of 404 count as answers, because only Xen Orchestra gives them: JSON that names the object
 * (`missing`), and its page for a path without a route (`noCollection`). Any other 404, such as that of a proxy, is a
 * {@linkcode CloudError}.
 */
export type ReadReply<T> =
  | { readonly kind: "found"; readonly value: T }
  /** 404 in JSON, for an object with this type and ID. */
  | { readonly kind: "missing" }
  | { readonly kind: "undecodable"; readonly problem: string };

/** The list of connections, `refused` (403), or `missing` if the server has no such list (404). */
export type ServersReply = ListReply<Server> | "refused" | "missing";

/** Identifies the answer to one request, so that the server need not send it again. */
export interface ListVersion {
  readonly path: string;
  readonly etag: string;
}

/** A list, and its version. */
export interface VersionedList<T> extends ListReply<T> {
  /** Absent if the server (or a proxy) sends none. */
  readonly version?: ListVersion;
}

/** Which fields of a list to read, and how. */
export interface ListWish<T> {
  /** Separated by commas. */
  readonly fields: string;
  readonly schema: GenericSchema<unknown, T>;
  /** Which objects. @default {all} */
  readonly filter?: string | undefined;
}

/** Which object to read, and how. */
interface WantedObject<T> {
  readonly type: string;
  readonly id: string;
  readonly schema: GenericSchema<unknown, T>;
}

/** How to list a collection again. */
interface RelistOptions<T> {
  readonly filter?: string | undefined;
  readonly known?: ListVersion | undefined;
  readonly more?: ListWish<T> | undefined;
}

/**
 * Maximum number of IDs in one filter. The server accepts request headers of 16 KiB (beyond: 431). 400 IDs need about
 * 14.5 KiB; the rest is for the path, the fields and the cookie.
 */
export const FILTER_IDS_MAX = 400;

/** Builds a filter for VMs. @param ids In lower case, at most {@linkcode FILTER_IDS_MAX} */
export function byIds(ids: readonly string[]): string {
  // Plain text matches anywhere in a value. With whole UUIDs that does no harm.
  return `id:|(${ids.join(" ")})`;
}

/** Builds a filter for the network interfaces of VMs. @param vmIds In lower case, at most {@linkcode FILTER_IDS_MAX} */
export function byVms(vmIds: readonly string[]): string {
  return vmIds.length === 1 ? `$VM:${vmIds[0]}` : `$VM:|(${vmIds.join(" ")})`;
}

/** Reads Xen Orchestra. Every method throws {@linkcode CloudError} if there is no usable answer. */
export class XenOrchestraApi {
  readonly #session: Pick<Session, "get">;
  readonly #undecodable: Counter;

  constructor(session: Pick<Session, "get">, metrics: MetricsRegistry) {
    this.#session = session;
    this.#undecodable = createUndecodableCounter(metrics);
  }

  /** Lists a collection: all of it, or the objects that match `filter`. */
  async list<C extends keyof Objects>(
    collection: C,
    signal: AbortSignal,
    filter?: string,
    more?: ListWish<Objects[C]>,
  ): Promise<VersionedList<Objects[C]>> {
    const list = await this.relist(collection, { filter, more }, signal);
    if (list !== "unchanged") return list;
    const message = `Xen Orchestra answered 304 to GET /${collection} without If-None-Match`;
    throw new CloudError("protocol", message);
  }

  /**
   * Lists a collection again.
   *
   * @param options.more Fields beside the usual ones, and a schema that reads both
   * @param options.known The version that the caller has. Without it, or if it belongs to another request, the answer
   * is never `unchanged`. It may come from another user: an ETag identifies the content, for every user
   */
  async relist<C extends keyof Objects>(
    collection: C,
    options: RelistOptions<Objects[C]>,
    signal: AbortSignal,
  ): Promise<VersionedList<Objects[C]> | "unchanged"> {
    const { filter, known, more } = options;
    const usual = COLLECTIONS[collection];
    const { schema } = more ?? usual;
    const fields = more === undefined ? usual.fields : `${usual.fields},${more.fields}`;
    const path = toListPath(collection, { fields, ...(filter && { filter }) });
    const knownEtag = known?.path === path ? known.etag : undefined;
    const reply = await this.#getList(collection, path, signal, knownEtag);
    if (reply.status === 304 && knownEtag !== undefined) {
      if (isSameEtag(reply.etag ?? knownEtag, knownEtag)) return "unchanged";
      // A cache returned the server's answer about the cache's own copy, not about this one.
      return await this.relist(collection, { ...options, known: undefined }, signal);
    }
    const list = this.#toList(collection, schema, reply);
    const { etag } = reply;
    return etag === undefined ? list : { ...list, version: { path, etag } };
  }

  /** Lists a collection with other fields. */
  async listAs<T extends { readonly id: string }>(
    collection: string,
    wanted: ListWish<T>,
    signal: AbortSignal,
  ): Promise<ListReply<T>> {
    const { fields, schema, filter } = wanted;
    const path = toListPath(collection, { fields, ...(filter !== undefined && { filter }) });
    return this.#toList(collection, schema, await this.#getList(collection, path, signal));
  }

  /** Lists the connections to pools. The server silently omits those that the user has no right to see. */
  async listServers(signal: AbortSignal): Promise<ServersReply> {
    const { fields, schema } = COLLECTIONS.servers;
    const reply = await this.#getList("servers", toListPath("servers", { fields }), signal);
    if (reply.status === 403 && reply.json !== undefined) return "refused";
    if (reply.status === 404 && isUnknownRoute(reply)) return "missing";
    return this.#toList("servers", schema, reply);
  }

  /** Lists at most two VMs of a pool. */
  async listSomeVmsOfPool(poolId: string, signal: AbortSignal): Promise<ListReply<PoolMember>> {
    const query = { fields: "id,$pool", filter: `$pool:${poolId}`, limit: "2" };
    const reply = await this.#getList("vms", toListPath("vms", query), signal);
    return this.#toList("vms", POOL_MEMBER, reply);
  }

  /** Reads one object. For a template, `vms` answers 404. */
  read<C extends "vms" | "hosts" | "pools">(
    collection: C,
    id: string,
    signal: AbortSignal,
  ): Promise<ReadReply<Objects[C]>> {
    return this.readAs(collection, { ...COLLECTIONS[collection], id }, signal);
  }

  /** Reads one object with other fields. @param wanted.type Its type, as a 404 names it */
  async readAs<T extends { readonly id: string }>(
    collection: string,
    wanted: WantedObject<T>,
    signal: AbortSignal,
  ): Promise<ReadReply<T>> {
    return this.#toOne(collection, wanted, await this.#getOne(collection, wanted.id, signal));
  }

  /** Reads the dom0 of a host. `hidden`: the user has no right to see it (403), as with the minimal rights. */
  async readVmController(
    id: string,
    signal: AbortSignal,
  ): Promise<ReadReply<PoolMember> | { readonly kind: "hidden" | "noCollection" }> {
    const reply = await this.#getOne("vm-controllers", id, signal);
    if (reply.status === 403 && reply.json !== undefined) return { kind: "hidden" };
    return this.#toOptional("vm-controllers", id, reply);
  }

  /** Reads a template. */
  async readVmTemplate(
    id: string,
    signal: AbortSignal,
  ): Promise<ReadReply<PoolMember> | { readonly kind: "noCollection" }> {
    return this.#toOptional("vm-templates", id, await this.#getOne("vm-templates", id, signal));
  }

  #getList(collection: string, path: string, signal: AbortSignal, etag?: string): Promise<Reply> {
    const operation = `list_${collection.replaceAll("-", "_")}`;
    return this.#session.get({ operation, path, isList: true, etag }, signal);
  }

  #getOne(collection: string, id: string, signal: AbortSignal): Promise<Reply> {
    const operation = `read_${collection.replaceAll("-", "_").replace(/s$/, "")}`;
    const path = `/${collection}/${encodeURIComponent(id)}`;
    return this.#session.get({ operation, path, isList: false }, signal);
  }

  #toList<T extends { readonly id: string }>(
    collection: string,
    schema: GenericSchema<unknown, T>,
    reply: Reply,
  ): ListReply<T> {
    const body = reply.json?.value;
    if (reply.status !== 200 || body === undefined) throw toReplyError(reply, `GET /${collection}`);
    if (!Array.isArray(body)) {
      const message = `Xen Orchestra did not answer GET /${collection} with a list`;
      throw new CloudError("protocol", message);
    }
    const list = decodeList(schema, body);
    if (list.undecodable.size > 0) this.#undecodable.inc({ collection }, list.undecodable.size);
    return list;
  }

  /** `noCollection`: the server has no such collection, so it says nothing about the object. */
  #toOptional(
    collection: "vm-controllers" | "vm-templates",
    id: string,
    reply: Reply,
  ): ReadReply<PoolMember> | { readonly kind: "noCollection" } {
    if (isUnknownRoute(reply)) return { kind: "noCollection" };
    return this.#toOne(collection, { ...COLLECTIONS[collection], id }, reply);
  }

  #toOne<T extends { readonly id: string }>(
    collection: string,
    { id, type, schema }: WantedObject<T>,
    reply: Reply,
  ): ReadReply<T> {
    if (reply.status === 404 && isMissing(reply, type, id)) return { kind: "missing" };
    if (reply.status !== 200 || reply.json === undefined) {
      throw toReplyError(reply, `GET /${collection}/${id}`);
    }
    const decoded = decode(schema, reply.json.value);
    if ("value" in decoded && decoded.value.id === id)
      return { kind: "found", value: decoded.value };
    this.#undecodable.inc({ collection });
    const problem = "problem" in decoded ? decoded.problem : "id: is another one";
    return { kind: "undecodable", problem };
  }
}

/** Weak comparison (RFC 9110, 8.8.3.2), because a proxy that compresses makes a strong ETag weak. */
function isSameEtag(one: string, other: string): boolean {
  return one.replace(/^W\//, "") === other.replace(/^W\//, "");
}

/** The path of a list. */
function toListPath(collection: string, query: Record<string, string>): string {
  return `/${collection}?${new URLSearchParams(query)}`;
}

/**
 * Whether a 404 comes from Xen Orchestra for this object. A 404 from a proxy or for a wrong path says nothing about it.
 */
function isMissing({ json }: Reply, type: string, id: string): boolean {
  const body = json?.value;
  if (typeof body !== "object" || body === null || !("data" in body)) return false;
  const { data } = body;
  if (typeof data !== "object" || data === null) return false;
  return "type" in data && data.type === type && "id" in data && data.id === id;
}

type EventSession = Pick<Session, "post" | "openStream">;

const CONFIGURED: Readonly<Record<string, string>> = { CPUs: "CPUs.max", memory: "memory.static" };

/**
 * The fields that an inventory uses, so that the server does not send other changes. For CPUs and memory only the
 * configured values, because the used values change all the time.
 */
const SUBSCRIPTIONS = [COLLECTIONS.vms, COLLECTIONS.hosts, COLLECTIONS.pools].map(
  ({ type, fields }) => ({
    collection: type,
    fields: fields.split(",").map((field) => CONFIGURED[field] ?? field),
  }),
);

const STREAM_TYPE = "text/event-stream";
const CHANGES: ReadonlySet<string> = new Set(["add", "update", "remove"]);
/** The server sends a ping every 30 s; two may be missing. */
const SILENCE_MS = 75_000;

/** Creates the change feed of one Xen Orchestra. */
export function createEventFeed({
  session,
  ...options
}: Omit<ChangeFeedOptions, "source"> & { readonly session: EventSession }): ChangeFeed {
  const source: ChangeSource = {
    server: SERVER_NAMES.server,
    silenceMs: SILENCE_MS,
    open: (signal) => open(session, signal),
    begin: async ({ event, data }, signal) => {
      if (event !== "init") return false;
      await subscribe(session, toId(data), signal);
      return true;
    },
    toHint,
  };
  return new ChangeFeed({ ...options, source });
}

async function open(
  session: EventSession,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array>> {
  const request = { operation: "open_events", path: "/events", type: STREAM_TYPE };
  const { body, ...head } = await session.openStream(request, signal);
  if (body === undefined) throw toRefusal(head, "GET /events");
  return body;
}

async function subscribe(session: EventSession, id: string, signal: AbortSignal): Promise<void> {
  const path = `/events/${encodeURIComponent(id)}/subscriptions`;
  await Promise.all(
    SUBSCRIPTIONS.map(async (content) => {
      const request = { operation: "subscribe_events", path, content };
      const reply = await session.post(request, signal);
      if (reply.status === 200 || reply.status === 201) return;
      // The stream ended meanwhile; the next one may work.
      const isGone = reply.status === 404 && reply.json !== undefined;
      const what = `the subscription to ${content.collection}`;
      throw isGone ? toReplyError(reply, what) : toRefusal(reply, what);
    }),
  );
}

/** Turns events into a hint; `undefined` if none reports a change. */
function toHint(events: readonly ServerSentEvent[]): ChangeHint | undefined {
  const ids = new Set<string>();
  for (const { event, data } of events) {
    if (!CHANGES.has(event)) continue;
    const { $subscription: type, id } = parseFields(data) ?? {};
    // A host or pool that changed may affect every VM. An unreadable event counts as such a change.
    const vmId = typeof id === "string" ? parseUuid(id) : undefined;
    if (type !== "VM" || vmId === undefined) return "everything";
    ids.add(vmId);
  }
  return ids.size > 0 ? ids : undefined;
}

function toId(data: string): string {
  const { id } = parseFields(data) ?? {};
  if (typeof id === "string" && id !== "") return id;
  throw new CloudError("protocol", "Xen Orchestra started an event stream without an ID");
}

/** Landfall soon tries again if the server has a problem, but not if it refuses. */
function toRefusal(reply: Reply, what: string): Error {
  const error = toReplyError(reply, what);
  return reply.status === 429 || reply.status >= 500 ? error : new Unsupported(error.message);
}
