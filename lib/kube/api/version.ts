/**
 * The version of an API server, from `/version`. Pure.
 * @module
 */

/** The first Kubernetes that Landfall supports: the chart refuses an older one, and `landfall check` warns of it. */
export const SUPPORTED_FROM = "1.27";

/** A version of Kubernetes. Distributions add something to `gitVersion`, and a `+` to `minor`. */
export interface ServerVersion {
  readonly major: number;
  readonly minor: number;
  /** The original text: `v1.35.0`. */
  readonly text: string;
}

/** Reads the answer to `/version`; `undefined` if it is something else. */
export function parseServerVersion(body: unknown): ServerVersion | undefined {
  const isObject = typeof body === "object" && body !== null && "gitVersion" in body;
  if (!isObject || typeof body.gitVersion !== "string") return undefined;
  const [, major, minor] = /^v(\d{1,4})\.(\d{1,4})(\D|$)/.exec(body.gitVersion) ?? [];
  if (major === undefined || minor === undefined) return undefined;
  return { major: Number(major), minor: Number(minor), text: body.gitVersion };
}

/** Whether a version is `least`, for example `1.26`, or newer. */
export function isAtLeast({ major, minor }: ServerVersion, least: string): boolean {
  const [leastMajor = 0, leastMinor = 0] = least.split(".").map(Number);
  return major > leastMajor || (major === leastMajor && minor >= leastMinor);
}
