/**
 * What servers of which version can do about the clients of a load-balancer rule. Pure.
 * @module
 */
import type { Version } from "../../session/facts.ts";
import type { View } from "../view.ts";

/** Whether a server is of a version, or later. A server whose version is not known is older. */
export function isSince(version: Version | undefined, major: number, minor: number): boolean {
  if (version === undefined) return false;
  return version.major > major || (version.major === major && version.minor >= minor);
}

/** Whether the rules of a server have a list of their own that restricts clients. */
export function hasRuleLists({ version }: View): boolean {
  return isSince(version, 4, 18);
}

/** Whether the list of a rule can be changed. Otherwise, the rule must be made again. */
export function canUpdateRuleLists({ version }: View): boolean {
  return isSince(version, 4, 22);
}
