/**
 * Rights of users (ACL v2): what a role allows, on which objects, and what is missing for a request.
 * @module
 */
import { parseFilter } from "../filter.ts";

/** One right of a role. */
export interface Privilege {
  /** `vm`, `pool`, `vm-template`. */
  readonly resource: string;
  /** `update` includes `update:tags`. */
  readonly action: string;
  /** A filter; the right holds for objects that match. @default {all objects} */
  readonly selector?: string;
  /** A right that denies wins. @default {"allow"} */
  readonly effect?: "allow" | "deny";
}

/** What a request needs. */
export interface Need {
  readonly resource: string;
  readonly action: string;
  /** Absent: the object does not exist yet. */
  readonly objectId?: string;
  /** What selectors look at: the object, or what the body says about it. */
  readonly object: unknown;
}

/** A right that is missing, as the answer names it. */
interface MissingPrivilege {
  readonly objectId?: string;
  readonly action: string;
  readonly resource: string;
}

/** Whether rights allow an action. @param privileges Absent: an administrator */
export function isAllowed(privileges: readonly Privilege[] | undefined, need: Need): boolean {
  if (privileges === undefined) return true;
  const fitting = privileges.filter((one) => fits(one, need));
  return fitting.length > 0 && fitting.every(({ effect = "allow" }) => effect === "allow");
}

/** The rights that are missing, each once. */
export function findMissing(
  privileges: readonly Privilege[] | undefined,
  needs: readonly Need[],
): readonly MissingPrivilege[] {
  const missing = new Map<string, MissingPrivilege>();
  for (const need of needs) {
    if (isAllowed(privileges, need)) continue;
    const { objectId, action, resource } = need;
    const one = { ...(objectId !== undefined && { objectId }), action, resource };
    missing.set(JSON.stringify(one), one);
  }
  return [...missing.values()];
}

function fits({ resource, action, selector }: Privilege, need: Need): boolean {
  if (resource !== need.resource) return false;
  if (action !== need.action && !need.action.startsWith(`${action}:`)) return false;
  return selector === undefined || parseFilter(selector)(need.object);
}
