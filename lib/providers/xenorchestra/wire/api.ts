/**
 * Landfall's requests to Xen Orchestra's REST API (`/rest/v0`, xo-server 5.112 or newer).
 * @module
 */
import type { GenericSchema } from "valibot";
import { CloudError } from "../../../cloud/errors.ts";
import { decode, decodeList, type ListReply } from "../../../cloud_http/decode.ts";
import type { Reply } from "../../../cloud_http/http.ts";
import { createUndecodableCounter } from "../../../cloud_http/meter.ts";
import type { Counter, MetricsRegistry } from "../../../core/metrics.ts";
import type { ServersReply } from "../proof/connections.ts";
import { isUnknownRoute, toReplyError } from "../session/reply_error.ts";
import {
  SCHEMAS,
  type Host,
  type Network,
  type Pool,
  type PoolMember,
  type Vif,
  type Vm,
} from "./schema.ts";
import type { Session } from "../session/session.ts";

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

/** The server has no such collection, so it says nothing about the object. Only for optional collections. */
interface NoCollection {
  readonly kind: "noCollection";
}

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

/** The collections that Landfall lists. */
interface Collections {
  readonly vms: Vm;
  readonly hosts: Host;
  readonly pools: Pool;
  readonly networks: Network;
  readonly vifs: Vif;
}

/** Which fields of a list to read, and how. */
export interface ListWish<T> {
  /** Separated by commas. */
  readonly fields: string;
  readonly schema: GenericSchema<unknown, T>;
  /** Which objects. @default {all} */
  readonly filter?: string | undefined;
}

/** How to list a collection again. */
interface RelistOptions<T> {
  readonly filter?: string | undefined;
  readonly known?: ListVersion | undefined;
  readonly more?: ListWish<T> | undefined;
}

const COLLECTIONS: {
  readonly [C in keyof Collections]: {
    readonly fields: string;
    readonly schema: GenericSchema<unknown, Collections[C]>;
  };
} = {
  vms: {
    fields:
      "id,name_label,power_state,CPUs,memory,mainIpAddress,addresses,$container,$pool,tags,current_operations",
    schema: SCHEMAS.vm,
  },
  hosts: { fields: "id,name_label,$pool,tags,controlDomain", schema: SCHEMAS.host },
  pools: { fields: "id,name_label,master", schema: SCHEMAS.pool },
  networks: { fields: "id,name_label", schema: SCHEMAS.network },
  vifs: { fields: "id,device,$VM,$network", schema: SCHEMAS.vif },
};

const SERVER_FIELDS = "id,label,host,enabled,status,poolId";

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
  readonly #session: Session;
  readonly #undecodable: Counter;

  constructor(session: Session, metrics: MetricsRegistry) {
    this.#session = session;
    this.#undecodable = createUndecodableCounter(metrics);
  }

  /** Lists a collection: all of it, or the objects that match `filter`. */
  async list<C extends keyof Collections>(
    collection: C,
    signal: AbortSignal,
    filter?: string,
    more?: ListWish<Collections[C]>,
  ): Promise<VersionedList<Collections[C]>> {
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
  async relist<C extends keyof Collections>(
    collection: C,
    options: RelistOptions<Collections[C]>,
    signal: AbortSignal,
  ): Promise<VersionedList<Collections[C]> | "unchanged"> {
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

  /** Reads one object with other fields. @param wanted.type Its type, as a 404 names it */
  readAs<T extends { readonly id: string }>(
    collection: string,
    wanted: { readonly type: string; readonly id: string; readonly schema: ListWish<T>["schema"] },
    signal: AbortSignal,
  ): Promise<ReadReply<T>> {
    return this.#read(collection, wanted.type, wanted, signal);
  }

  /** Lists the connections to pools. The server silently omits those that the user has no right to see. */
  async listServers(signal: AbortSignal): Promise<ServersReply> {
    const path = toListPath("servers", { fields: SERVER_FIELDS });
    const reply = await this.#getList("servers", path, signal);
    if (reply.status === 403 && reply.json !== undefined) return "refused";
    if (isUnknownRoute(reply)) return "missing";
    return this.#toList("servers", SCHEMAS.server, reply);
  }

  /** Lists at most two VMs of a pool. */
  async listSomeVmsOfPool(poolId: string, signal: AbortSignal): Promise<ListReply<PoolMember>> {
    const query = { fields: "id,$pool", filter: `$pool:${poolId}`, limit: "2" };
    const reply = await this.#getList("vms", toListPath("vms", query), signal);
    return this.#toList("vms", SCHEMAS.poolMember, reply);
  }

  /** Reads one VM. */
  readVm(id: string, signal: AbortSignal): Promise<ReadReply<Vm>> {
    return this.#read("vms", "VM", { id, schema: SCHEMAS.vm }, signal);
  }

  /** Reads one pool. */
  readPool(id: string, signal: AbortSignal): Promise<ReadReply<Pool>> {
    return this.#read("pools", "pool", { id, schema: SCHEMAS.pool }, signal);
  }

  /** Reads one host. */
  readHost(id: string, signal: AbortSignal): Promise<ReadReply<Host>> {
    return this.#read("hosts", "host", { id, schema: SCHEMAS.host }, signal);
  }

  /** Reads the dom0 of a host. `hidden`: the user has no right to see it (403), as with the minimal rights. */
  async readVmController(
    id: string,
    signal: AbortSignal,
  ): Promise<ReadReply<PoolMember> | NoCollection | { readonly kind: "hidden" }> {
    const [reply, what] = await this.#getOne("vm-controllers", id, signal);
    if (reply.status === 403 && reply.json !== undefined) return { kind: "hidden" };
    if (isUnknownRoute(reply)) return { kind: "noCollection" };
    return this.#toOne(reply, { ...what, type: "VM-controller", schema: SCHEMAS.poolMember });
  }

  /** Reads a template. `/vms` answers 404 for it. */
  async readVmTemplate(
    id: string,
    signal: AbortSignal,
  ): Promise<ReadReply<PoolMember> | NoCollection> {
    const [reply, what] = await this.#getOne("vm-templates", id, signal);
    if (isUnknownRoute(reply)) return { kind: "noCollection" };
    return this.#toOne(reply, { ...what, type: "VM-template", schema: SCHEMAS.poolMember });
  }

  #getList(collection: string, path: string, signal: AbortSignal, etag?: string): Promise<Reply> {
    const operation = `list_${collection.replaceAll("-", "_")}`;
    return this.#session.get({ operation, path, isList: true, etag }, signal);
  }

  #toList<T extends { readonly id: string }>(
    collection: string,
    schema: GenericSchema<unknown, T>,
    reply: Reply,
  ): ListReply<T> {
    const body = reply.json?.value;
    if (reply.status !== 200 || body === undefined) throw toReplyError(reply, `GET /${collection}`);
    if (!Array.isArray(body)) {
      throw new CloudError(
        "protocol",
        `Xen Orchestra did not answer GET /${collection} with a list`,
      );
    }
    const list = decodeList(schema, body);
    if (list.undecodable.size > 0) this.#undecodable.inc({ collection }, list.undecodable.size);
    return list;
  }

  async #read<T extends { readonly id: string }>(
    collection: string,
    type: string,
    { id, schema }: { id: string; schema: GenericSchema<unknown, T> },
    signal: AbortSignal,
  ): Promise<ReadReply<T>> {
    const [reply, what] = await this.#getOne(collection, id, signal);
    return this.#toOne(reply, { ...what, type, schema });
  }

  async #getOne(
    collection: string,
    id: string,
    signal: AbortSignal,
  ): Promise<[Reply, { collection: string; id: string }]> {
    const operation = `read_${collection.replaceAll("-", "_").replace(/s$/, "")}`;
    const path = `/${collection}/${encodeURIComponent(id)}`;
    const reply = await this.#session.get({ operation, path, isList: false }, signal);
    return [reply, { collection, id }];
  }

  #toOne<T extends { readonly id: string }>(
    reply: Reply,
    what: { collection: string; id: string; type: string; schema: GenericSchema<unknown, T> },
  ): ReadReply<T> {
    const { collection, id, type, schema } = what;
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
