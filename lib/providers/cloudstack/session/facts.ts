/**
 * What is asked once and then known: the ID of the project, and the version of the server.
 * @module
 */
import { CloudError } from "../../../cloud/errors.ts";
import { quote } from "../../../core/text/printable.ts";
import { parseUuid } from "../../../core/text/values.ts";
import type { CloudStackSettings } from "../settings/config.ts";
import { SCHEMAS } from "../wire/schema.ts";
import { ApiError, ExplainedError } from "./errors.ts";
import type { CloudStackSession } from "./session.ts";

/** A version of CloudStack, in numbers: 4.22.0. */
export interface Version {
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
}

/** Reads `4.22.0.0`, `4.17.1.0-SNAPSHOT` or `4.18`; `undefined` for any other text. */
export function parseVersion(text: string): Version | undefined {
  const [, major, minor, patch = "0"] = /^(\d{1,4})\.(\d{1,4})(?:\.(\d{1,4}))?/.exec(text) ?? [];
  if (major === undefined || minor === undefined) return undefined;
  return { major: Number(major), minor: Number(minor), patch: Number(patch) };
}

/**
 * Facts about one server and one account. Asks only when a fact is needed, and again only after a failure, or when the
 * server no longer has the project.
 */
export class Facts {
  readonly #session: Pick<CloudStackSession, "list" | "read">;
  readonly #settings: Pick<CloudStackSettings, "project" | "version">;
  #projectId: string | undefined;
  #version: Version | undefined;

  constructor(
    session: Pick<CloudStackSession, "list" | "read">,
    settings: Pick<CloudStackSettings, "project" | "version">,
  ) {
    this.#session = session;
    this.#settings = settings;
  }

  /**
   * The ID of the project that the settings name, by ID or by name; `undefined` without one.
   *
   * @throws {CloudError} when CloudStack does not answer, or does not show exactly one project of that name
   */
  async readProjectId(signal: AbortSignal): Promise<string | undefined> {
    const { project } = this.#settings;
    if (project === undefined) return undefined;
    this.#projectId ??= parseUuid(project) ?? (await this.#findProject(project, signal));
    return this.#projectId;
  }

  /**
   * Asks something about the project, see {@linkcode readProjectId}. If the server no longer has it, its ID is read
   * again the next time: another project may have the name by then.
   *
   * @throws {CloudError} as `readProjectId`, or any error of `ask`
   */
  async inProject<T>(
    ask: (projectId: string | undefined) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    const projectId = await this.readProjectId(signal);
    try {
      return await ask(projectId);
    } catch (error) {
      const isUnknown = error instanceof ApiError && error.unknownId === projectId;
      if (isUnknown && this.#projectId === projectId) this.#projectId = undefined;
      throw error;
    }
  }

  /**
   * The version of CloudStack: what the settings say, else what the server says.
   *
   * @returns `undefined` when the server says none that can be read
   * @throws {CloudError} when CloudStack does not answer
   */
  async readVersion(signal: AbortSignal): Promise<Version | undefined> {
    const own = this.#settings.version;
    if (own !== undefined) return parseVersion(own);
    if (this.#version !== undefined) return this.#version;
    const query = { command: "listCapabilities", key: "capability", schema: SCHEMAS.capabilities };
    const { cloudstackversion } = await this.#session.read(query, signal);
    this.#version = parseVersion(cloudstackversion ?? "");
    return this.#version;
  }

  /** Names are compared as the server compares them: upper and lower case are the same. */
  async #findProject(name: string, signal: AbortSignal): Promise<string> {
    const params = { name, listall: "true" };
    const query = { command: "listProjects", key: "project", params, schema: SCHEMAS.project };
    const { objects, undecodable, gap } = await this.#session.list(query, signal);
    const wanted = name.toLowerCase();
    // Some servers show every project whose name holds the text.
    const [found, ...more] = objects.filter((one) => one.name?.toLowerCase() === wanted);
    const [problem = gap] = undecodable.values();
    if (more.length === 0 && problem !== undefined) {
      const cannot = `Cannot tell which project has the name ${quote(name)}`;
      throw new CloudError("protocol", `${cannot}: CloudStack's list is not whole: ${problem}`);
    }
    if (found !== undefined && more.length === 0) return found.id;
    throw toProjectError(name, found === undefined ? 0 : more.length + 1);
  }
}

/** @param count How many projects have the name */
function toProjectError(name: string, count: number): ExplainedError {
  const word = count === 0 ? "noProject" : "ambiguousProject";
  const problem =
    count === 0
      ? `CloudStack shows this account no project with the name ${quote(name)}`
      : `CloudStack shows ${count} projects with the name ${quote(name)}`;
  const advice = count === 0 ? "check project-id" : "give the UUID in project-id";
  return new ExplainedError("denied", { word, problem, advice });
}
