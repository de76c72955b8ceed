/**
 * What commands have in common: how they are called, their parameters, owners, lists and pages.
 * @module
 */
import type { Caller } from "../access/auth.ts";
import type { Fault } from "../faults.ts";
import type { Parameters } from "../parameters.ts";
import { ApiError, type ListPage, toInvalid, toUnknownEntity } from "../replies.ts";
import type { Settings } from "../settings.ts";
import type { Job, JobOptions } from "../world/jobs.ts";
import type { CloudStackState } from "../world/state.ts";
import type { Tag } from "../world/tags.ts";

/** A request of a caller who may make it. */
export interface Call {
  readonly caller: Caller;
  readonly parameters: Parameters;
  readonly state: CloudStackState;
  readonly settings: Settings;
  /** Milliseconds since the epoch by the server's clock. */
  readonly nowMs: number;
  readonly jobs: ReadonlyMap<string, Job>;
}

/** A list, whose entries are made for one page only. */
export interface List {
  /** What one entry is called. */
  readonly key: string;
  readonly count: number;
  /** The entries from one index up to another, without the latter. */
  readonly slice: (from: number, to: number) => object[];
}

/** A command, by the form of its answer. */
export type Command =
  | { readonly kind: "list"; readonly run: (call: Call) => List }
  | { readonly kind: "answer"; readonly run: (call: Call) => object }
  | { readonly kind: "job"; readonly run: (call: Call) => WantedJob }
  /** Makes an object at once, which the job puts to work; the answer names it beside the job. */
  | { readonly kind: "create"; readonly run: (call: Call) => WantedJob };

/** A job that a command starts; who started it is added. */
export type WantedJob = Omit<JobOptions, "command" | "userId" | "accountId">;

/** A list of objects that are shown one by one. */
export function toList<T>(key: string, items: readonly T[], show: (item: T) => object): List {
  return { key, count: items.length, slice: (from, to) => items.slice(from, to).map(show) };
}

/**
 * The object that a parameter names; `undefined` when it names none.
 *
 * @throws {ApiError} 431 when there is no such object
 */
export function findNamed<T>(
  parameters: Parameters,
  name: string,
  objects: ReadonlyMap<string, T>,
): T | undefined {
  const value = parameters.get(name);
  if (value === undefined) return undefined;
  const found = objects.get(value.toLowerCase());
  if (found === undefined) throw toUnknownEntity(parameters.command, name, value);
  return found;
}

/** The object that a parameter must name. @throws {ApiError} 431 when it is missing or names none */
export function needNamed<T>(
  parameters: Parameters,
  name: string,
  objects: ReadonlyMap<string, T>,
): T {
  return findNamed(parameters, name, objects) ?? throwMissing(parameters, name);
}

/** The text of a parameter that must be there. @throws {ApiError} 431 when it is missing */
export function needText(parameters: Parameters, name: string): string {
  return parameters.get(name) ?? throwMissing(parameters, name);
}

/** The whole number of a parameter; `undefined` when there is none. @throws {ApiError} 431 for anything else */
export function readNumber(parameters: Parameters, name: string): number | undefined {
  const text = parameters.get(name);
  if (text === undefined) return undefined;
  if (/^-?\d{1,9}$/.test(text)) return Number(text);
  const command = parameters.command.toLowerCase();
  throw toInvalid(
    `Unable to execute API command ${command} due to invalid value ${text} for parameter ${name}`,
  );
}

/** Refuses a request without a parameter that must be there. @throws {ApiError} 431 */
export function throwMissing({ command }: Parameters, name: string): never {
  const lower = command.toLowerCase();
  throw new ApiError(
    431,
    `Unable to execute API command ${lower} due to missing parameter ${name}`,
  );
}

/** Whether a name or another text contains the keyword, which any text does without one. */
export function matches(parameters: Parameters, ...texts: readonly string[]): boolean {
  const keyword = parameters.get("keyword")?.toLowerCase();
  return keyword === undefined || texts.some((text) => text.toLowerCase().includes(keyword));
}

/** Whether two names are the same; case does not matter to the server's database. */
export function isSame(wanted: string | undefined, name: string): boolean {
  return wanted === undefined || wanted.toLowerCase() === name.toLowerCase();
}

/**
 * The page that a request asks for; without pages, as much as one page holds.
 *
 * @param sizeMax Entries of the largest page
 * @throws {ApiError} 431 for a larger page, or a number that is none
 */
export function toPage(
  list: List,
  parameters: Parameters,
  sizeMax: number,
  fault?: Fault,
): ListPage {
  const { key } = list;
  if (fault?.kind === "emptyList") return { key, count: 0, items: [] };
  const size = readSize(parameters, sizeMax);
  const page = readNumber(parameters, "page") ?? 1;
  // The first entry went between two pages, so that all others moved up.
  const gone = fault?.kind === "shrinkingList" && page > 1 ? 1 : 0;
  const count = Math.max(0, list.count - gone);
  if (fault?.kind === "missingPage") return { key, count, items: [] };
  const from = Math.max(0, page - 1) * size + gone;
  return { key, count, items: list.slice(from, Math.min(from + size, list.count)) };
}

function readSize(parameters: Parameters, sizeMax: number): number {
  const size = readNumber(parameters, "pagesize");
  if (size === undefined) return sizeMax;
  if (size === -1) {
    if (parameters.get("page") === undefined) return Number.MAX_SAFE_INTEGER;
    throw toInvalid("Can't specify page parameter when pagesize is -1 (Unlimited)");
  }
  if (size <= sizeMax) return size;
  throw toInvalid(`Page size can't exceed max allowed page size value: ${sizeMax}`);
}

/**
 * The object that a parameter must name, which the caller must own.
 *
 * @throws {ApiError} 431 when it is missing or names none, 531 when it is another account's
 */
export function needOwned<T extends { readonly id: string; readonly accountId?: string }>(
  call: Call,
  name: string,
  objects: ReadonlyMap<string, T>,
): T {
  const object = needNamed(call.parameters, name, objects);
  checkOwner(call, object.accountId ?? "", object.id);
  return object;
}

/** Refuses what belongs to another account. @throws {ApiError} 531 */
export function checkOwner(call: Call, ownerId: string, what: string): void {
  if (mayUse(call, ownerId)) return;
  const { name } = call.caller.account;
  const text = `Account ${name} does not have permission to operate with resource ${what}`;
  throw new ApiError(531, text, 4365);
}

/** Runs a check inside a job, where a refusal that is a 531 of a command fails with 530. @throws {ApiError} */
export function failJob(check: () => void): void {
  try {
    check();
  } catch (error) {
    const isForbidden = error instanceof ApiError && error.code === 531;
    throw isForbidden ? new ApiError(530, error.message) : error;
  }
}

/** Whether the caller may change what belongs to an account. */
function mayUse({ caller: { account }, state }: Call, ownerId: string): boolean {
  if (account.type !== "user" || account.id === ownerId) return true;
  const project = [...state.projects.values()].find((one) => one.accountId === ownerId);
  return project?.memberIds.includes(account.id) === true;
}

/** The owner of an object, as every answer names it: an account, or a project. */
export function toOwner(accountId: string, state: CloudStackState): Record<string, unknown> {
  const account = state.accounts.get(accountId);
  if (account === undefined) return {};
  const domain = { domainid: account.domainId, domain: state.domains.get(account.domainId)?.name };
  if (account.type !== "project") return { account: account.name, ...domain };
  const project = [...state.projects.values()].find((one) => one.accountId === accountId);
  return { projectid: project?.id, project: project?.name, ...domain };
}

/** The field `tags` of an object. */
export function toTagsReply(state: CloudStackState, resourceId: string): object[] {
  return state.tags.of(resourceId).map((tag) => toTagReply(state, tag));
}

/** One tag. */
export function toTagReply(state: CloudStackState, tag: Tag): object {
  const { key, value, resourceType, resourceId, accountId } = tag;
  return {
    key,
    value,
    resourcetype: resourceType,
    resourceid: resourceId,
    ...toOwner(accountId, state),
  };
}

/**
 * Whether a list contains an object, by `tags[0].key` and `tags[0].value`: any object when none are asked for. Of
 * several tags one is enough, as on the server.
 */
export function createTagFilter(
  parameters: Parameters,
  state: CloudStackState,
): (resourceId: string) => boolean {
  const wanted = parameters.entries("tags");
  if (wanted.length === 0) return () => true;
  return (resourceId) =>
    state.tags
      .of(resourceId)
      .some((tag) =>
        wanted.some(
          ({ key, value }) =>
            key !== undefined &&
            value !== undefined &&
            isSame(key, tag.key) &&
            isSame(value, tag.value),
        ),
      );
}
