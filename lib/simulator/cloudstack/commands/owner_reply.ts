/**
 * Whose an object is, in the answers about it.
 * @module
 */
import type { CloudStackState } from "../world/state.ts";

/** The owner of an object, as every answer names it: an account, or a project. */
export function toOwner(accountId: string, state: CloudStackState): Record<string, unknown> {
  const account = state.accounts.get(accountId);
  if (account === undefined) return {};
  const domain = { domainid: account.domainId, domain: state.domains.get(account.domainId)?.name };
  if (account.type !== "project") return { account: account.name, ...domain };
  const project = [...state.projects.values()].find((one) => one.accountId === accountId);
  return { projectid: project?.id, project: project?.name, ...domain };
}
