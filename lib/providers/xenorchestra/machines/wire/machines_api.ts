/**
 * The reads that machines need.
 * @module
 */
import * as v from "valibot";
import { CloudError } from "../../../../cloud/errors.ts";
import type { ListReply } from "../../../../cloud_http/decode.ts";
import type { Session } from "../../session/session.ts";
import type { ReadReply, ServersReply, XenOrchestraApi } from "../../client.ts";
import type { GrantedPrivilege } from "../privileges.ts";
import {
  type MachineCollections,
  type RawPool,
  type RawTask,
  type RawTemplate,
  type RawVdi,
  type RawVm,
  WANTED,
} from "./objects.ts";
import type { OwnChanges } from "./own_changes.ts";

/** Reads Xen Orchestra. Every method throws {@linkcode CloudError} if there is no usable answer. */
export class MachinesApi {
  readonly #api: Pick<XenOrchestraApi, "listAs" | "listServers" | "readAs">;
  readonly #session: Pick<Session, "get">;
  readonly #own: OwnChanges;

  /** @param own What reads may not show yet */
  constructor(
    api: Pick<XenOrchestraApi, "listAs" | "listServers" | "readAs">,
    session: Pick<Session, "get">,
    own: OwnChanges,
  ) {
    this.#api = api;
    this.#session = session;
    this.#own = own;
  }

  /** Lists a collection: all of it, or the objects that match `filter`, and those that own changes made. */
  async list<C extends keyof MachineCollections>(
    collection: C,
    signal: AbortSignal,
    filter?: string,
  ): Promise<ListReply<MachineCollections[C]>> {
    const beganMs = this.#own.now();
    const wanted = { ...WANTED[collection], filter };
    const list = await this.#api.listAs<MachineCollections[C]>(collection, wanted, signal);
    return { ...list, objects: this.#own.addTo(collection, list.objects, beganMs) };
  }

  /** As `XenOrchestraApi.listServers`. */
  listServers(signal: AbortSignal): Promise<ServersReply> {
    return this.#api.listServers(signal);
  }

  /**
   * Lists the tasks that create VMs whose names match.
   *
   * @param pattern A regular expression between slashes
   * @returns `undefined` if the user has no right to see tasks; with some roles the list is then only empty
   */
  async listTasks(pattern: string, signal: AbortSignal): Promise<readonly RawTask[] | undefined> {
    try {
      const filter = `properties:args:name_label:${pattern}`;
      const { objects, undecodable } = await this.list("tasks", signal, filter);
      const [problem] = undecodable.values();
      // It may be one that runs.
      if (problem !== undefined)
        throw new CloudError(
          "protocol",
          `Landfall cannot read a task of Xen Orchestra: ${problem}`,
        );
      return objects;
    } catch (error) {
      if (error instanceof CloudError && error.status === 403) return undefined;
      throw error;
    }
  }

  /** Lists the pools whose control domains are shown: their VMs are loaded. Not every user may see them. */
  async listLoadedPools(signal: AbortSignal): Promise<readonly string[]> {
    try {
      const { objects } = await this.list("vm-controllers", signal);
      return objects.flatMap(({ $pool }) => $pool ?? []);
    } catch (error) {
      if (error instanceof CloudError && error.status === 403) return [];
      throw error;
    }
  }

  /** Reads one VM. */
  readVm(id: string, signal: AbortSignal): Promise<ReadReply<RawVm>> {
    return this.#read("vms", "VM", id, signal);
  }

  /** Reads one template. */
  readTemplate(id: string, signal: AbortSignal): Promise<ReadReply<RawTemplate>> {
    return this.#read("vm-templates", "VM-template", id, signal);
  }

  /** Reads one pool. */
  readPool(id: string, signal: AbortSignal): Promise<ReadReply<RawPool>> {
    return this.#read("pools", "pool", id, signal);
  }

  /** Reads one disk. */
  readDisk(id: string, signal: AbortSignal): Promise<ReadReply<RawVdi>> {
    return this.#read("vdis", "VDI", id, signal);
  }

  /** Reads the ID of the own user. @returns `undefined` if Xen Orchestra does not say */
  async readUserId(signal: AbortSignal): Promise<string | undefined> {
    return (
      (await this.#findText("/users/me/authentication_tokens", TOKENS, signal)) ??
      (await this.#findText("/users/me", USER, signal))
    );
  }

  /**
   * Reads the rights of a user.
   *
   * @returns Its privileges; `all` for an administrator; `unknown` if Xen Orchestra does not say
   */
  async readRights(
    userId: string,
    signal: AbortSignal,
  ): Promise<readonly GrantedPrivilege[] | "all" | "unknown"> {
    const path = `/users/${encodeURIComponent(userId)}`;
    if ((await this.#findText(path, PERMISSION, signal)) === "admin") return "all";
    const list = `${path}/acl-privileges?fields=action,resource,effect,selector`;
    const request = { operation: "list_privileges", path: list, isList: false };
    const { status, json } = await this.#session.get(request, signal);
    const parsed = v.safeParse(PRIVILEGES, json?.value);
    if (status !== 200 || !parsed.success) return "unknown";
    return parsed.output
      .filter(({ effect }) => effect !== "deny")
      .map(({ resource, action, selector }) => ({
        resource,
        action,
        ...(selector !== undefined && selector !== null && { selector: formatSelector(selector) }),
      }));
  }

  async #findText(
    path: string,
    schema: v.GenericSchema<unknown, string>,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const request = { operation: "read_user", path, isList: false };
    const { status, json } = await this.#session.get(request, signal);
    const parsed = v.safeParse(schema, json?.value);
    return status === 200 && parsed.success ? parsed.output : undefined;
  }

  async #read<C extends keyof MachineCollections>(
    collection: C,
    type: string,
    id: string,
    signal: AbortSignal,
  ): Promise<ReadReply<MachineCollections[C]>> {
    const { schema } = WANTED[collection];
    const beganMs = this.#own.now();
    const wanted = { type, id, schema };
    const read = await this.#api.readAs<MachineCollections[C]>(collection, wanted, signal);
    if (read.kind === "undecodable") return read;
    const shown = read.kind === "found" ? read.value : undefined;
    const value = this.#own.addToOne(collection, id, shown, beganMs);
    return value === undefined ? { kind: "missing" } : { kind: "found", value };
  }
}

const id = v.pipe(v.string(), v.nonEmpty());
const USER: v.GenericSchema<unknown, string> = v.pipe(
  v.object({ id }),
  v.transform((user) => user.id),
);
/** All tokens in the list are of the own user. */
const TOKENS: v.GenericSchema<unknown, string> = v.pipe(
  v.looseTuple([v.object({ user_id: id })]),
  v.transform(([token]) => token.user_id),
);
const PERMISSION: v.GenericSchema<unknown, string> = v.pipe(
  v.object({ permission: v.string() }),
  v.transform((user) => user.permission),
);
function formatSelector(selector: unknown): string {
  return typeof selector === "string" ? selector : JSON.stringify(selector);
}

const PRIVILEGES = v.array(
  v.object({
    action: v.string(),
    resource: v.string(),
    effect: v.optional(v.string()),
    // A text, or a parsed filter: only whether there is one matters.
    selector: v.nullish(v.unknown()),
  }),
);
