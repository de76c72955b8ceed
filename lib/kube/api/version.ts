/**
 * The version of an API server, from `/version`. Pure.
 * @module
 */
import { isFields } from "../../core/text/values.ts";

/** What is tested: everything with the newest version, and what Landfall relies on with the oldest one, too. */
export const TESTED_WITH = { oldest: "1.27.16", newest: "1.37.2" } as const;

/** The first Kubernetes that Landfall supports: the chart refuses an older one, and `landfall check` warns of it. */
export const SUPPORTED_FROM: string = TESTED_WITH.oldest.replace(/\.\d+$/, "");

/** A version of Kubernetes. Distributions add something to `gitVersion`, and a `+` to `minor`. */
interface ServerVersion {
  readonly major: number;
  readonly minor: number;
  /** The original text: `v1.35.0`. */
  readonly text: string;
}

/** The text of the version in the answer to `/version`; `undefined` if it is something else. */
export function findVersionText(body: unknown): string | undefined {
  const text = isFields(body) ? body["gitVersion"] : undefined;
  return typeof text === "string" ? text : undefined;
}

/** Reads a version; `undefined` if the text is none. @param text As {@linkcode findVersionText} finds it */
export function parseServerVersion(text: string | undefined): ServerVersion | undefined {
  if (text === undefined) return undefined;
  const [, major, minor] = /^v(\d{1,4})\.(\d{1,4})(\D|$)/.exec(text) ?? [];
  if (major === undefined || minor === undefined) return undefined;
  return { major: Number(major), minor: Number(minor), text };
}

/** Whether a version is `least`, for example `1.27`, or newer. */
export function isAtLeast({ major, minor }: ServerVersion, least: string): boolean {
  const [leastMajor = 0, leastMinor = 0] = least.split(".").map(Number);
  return major > leastMajor || (major === leastMajor && minor >= leastMinor);
}
