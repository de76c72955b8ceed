/**
 * Whether a caller may change an object: the own account's, a project's of which it is a member, any as administrator.
 * @module
 */
import { ApiError } from "../replies.ts";
import { needNamed, type Call } from "./call.ts";

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
