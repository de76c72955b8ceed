/**
 * What Landfall asks CloudStack about VMs.
 * @module
 */
import { CloudError } from "../../../cloud/errors.ts";
import { ApiError } from "../session/errors.ts";
import type { ListVersion, ObjectList, Query, VersionedList } from "../session/lists.ts";
import type { CloudStackSession } from "../session/session.ts";
import { SCHEMAS, type Vm } from "./schema.ts";

/** What the server says about one ID. */
export type VmReading =
  | { readonly kind: "found"; readonly vm: Vm }
  /** An answer without a VM: it is gone, or this user may not see it. */
  | { readonly kind: "empty" }
  /** Error 431: the server has no VM with this ID, not even one that was removed. */
  | { readonly kind: "neverKnown" }
  /** The server shows it in a form that cannot be read. */
  | { readonly kind: "undecodable"; readonly problem: string };

/** Project ID that stands for every project, and for what is in none. */
const ANY_PROJECT = "-1";
/** Without statistics and volumes: these make the list of a large cloud slow. */
const DETAILS = "min,nics,servoff";

/** Questions about VMs. Every method throws `CloudError` when there is no usable answer. */
export class CloudStackApi {
  readonly #session: Pick<CloudStackSession, "list" | "relist">;

  constructor(session: Pick<CloudStackSession, "list" | "relist">) {
    this.#session = session;
  }

  /**
   * Lists every VM that the user may see, of one project or of none.
   *
   * @param known The version that the caller has
   * @returns `unchanged` if it is still the same list
   */
  async listVms(
    projectId: string | undefined,
    known: ListVersion | undefined,
    signal: AbortSignal,
  ): Promise<VersionedList<Vm> | "unchanged"> {
    return await this.#session.relist(toQuery(toProject(projectId)), known, signal);
  }

  /** Lists VMs by their name. Old servers also list those whose name contains it. */
  async listVmsByName(
    name: string,
    projectId: string | undefined,
    signal: AbortSignal,
  ): Promise<ObjectList<Vm>> {
    return await this.#session.list(toQuery({ name, ...toProject(projectId) }), signal);
  }

  /** Reads one VM of one project, or of none. */
  async readVm(id: string, projectId: string | undefined, signal: AbortSignal): Promise<VmReading> {
    try {
      const list = await this.#session.list(toQuery({ id, ...toProject(projectId) }), signal);
      const { objects, undecodable, gap } = list;
      // An ID that is ignored lists every VM.
      const vm = objects.find((one) => one.id === id);
      if (vm) return { kind: "found", vm };
      const [problem] = undecodable.values();
      if (problem !== undefined) return { kind: "undecodable", problem };
      if (gap !== undefined)
        throw new CloudError("protocol", `CloudStack's answer is not whole: ${gap}`);
      return { kind: "empty" };
    } catch (error) {
      if (error instanceof ApiError && isUnknown(error, id)) return { kind: "neverKnown" };
      throw error;
    }
  }

  /**
   * Reads one VM wherever it is: in any project, or in none. To the first question a domain's administrator is shown
   * only what the own account has, and to the second one everything in the domain; other users the other way round.
   */
  async readVmAnywhere(id: string, signal: AbortSignal): Promise<VmReading> {
    const inProjects = await this.readVm(id, ANY_PROJECT, signal);
    return inProjects.kind === "empty" ? await this.readVm(id, undefined, signal) : inProjects;
  }
}

function toQuery(params: Readonly<Record<string, string>>): Query<Vm> {
  const query = { command: "listVirtualMachines", key: "virtualmachine", schema: SCHEMAS.vm };
  return { ...query, params: { listall: "true", details: DETAILS, ...params } };
}

/** The project or another parameter may be what is unknown. */
function isUnknown({ unknownId }: ApiError, id: string): boolean {
  return unknownId?.toLowerCase() === id;
}

function toProject(projectid: string | undefined): Readonly<Record<string, string>> {
  return projectid === undefined ? {} : { projectid };
}
