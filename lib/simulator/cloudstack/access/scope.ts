/**
 * Which objects a caller sees, by `listall` and `projectid`.
 * @module
 */
import type { Parameters } from "../parameters.ts";
import { toUnknownEntity } from "../replies.ts";
import type { CloudStackState } from "../world/state.ts";
import type { Account } from "./accounts.ts";

/** Whether an account's objects are listed. */
type Scope = (accountId: string) => boolean;

interface Limits {
  /** Only objects of these accounts; of any in the domain when empty. */
  readonly accounts: Set<string>;
  /** Only objects in this domain and those below. */
  domainId?: string;
  /** Whether objects of projects count; with `only`, no others do. */
  projects: "too" | "only" | "never";
}

/**
 * The scope of a list. A plain user sees the own account's objects, and those of projects only when asked for by
 * `projectid`; `-1` stands for every project, with `listall` also for what is in none.
 *
 * @throws {ApiError} 431 for an unknown project
 */
export function toScope(caller: Account, parameters: Parameters, state: CloudStackState): Scope {
  const limits: Limits = { accounts: new Set(), projects: "too" };
  const projectId = parameters.get("projectid");
  if (projectId === "-1") addProjects(limits, caller, parameters, state);
  else if (projectId !== undefined) addProject(limits, projectId, parameters, state);
  else addOwn(limits, caller, parameters);
  return (accountId) => covers(limits, accountId, state);
}

function addProjects(
  limits: Limits,
  caller: Account,
  parameters: Parameters,
  { projects }: CloudStackState,
): void {
  limits.projects = parameters.isTrue("listall") ? "too" : "only";
  if (caller.type === "admin") return;
  for (const { accountId, memberIds } of projects.values()) {
    if (memberIds.includes(caller.id)) limits.accounts.add(accountId);
  }
  limits.accounts.add(caller.id);
}

function addProject(
  limits: Limits,
  projectId: string,
  { command }: Parameters,
  { projects }: CloudStackState,
): void {
  const project = projects.get(projectId);
  if (project === undefined) throw toUnknownEntity(command, "projectid", projectId);
  limits.accounts.add(project.accountId);
}

function addOwn(limits: Limits, caller: Account, parameters: Parameters): void {
  const isById = parameters.get("id") !== undefined;
  if (!isById) limits.projects = "never";
  const seesAll = parameters.isTrue("listall") || isById;
  if (caller.type === "user" || !seesAll) limits.accounts.add(caller.id);
  else if (caller.type === "domainAdmin") limits.domainId = caller.domainId;
}

function covers(limits: Limits, accountId: string, state: CloudStackState): boolean {
  const account = state.accounts.get(accountId);
  if (account === undefined) return false;
  const isProject = account.type === "project";
  if (isProject ? limits.projects === "never" : limits.projects === "only") return false;
  if (limits.accounts.size > 0) return limits.accounts.has(accountId);
  return limits.domainId === undefined || isBelow(account.domainId, limits.domainId, state);
}

/** Whether one domain is another one, or below it. */
function isBelow(domainId: string, aboveId: string, { domains }: CloudStackState): boolean {
  const path = domains.get(domainId)?.path;
  const above = domains.get(aboveId)?.path;
  return path !== undefined && above !== undefined && path.startsWith(above);
}
