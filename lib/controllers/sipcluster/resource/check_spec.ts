/**
 * Checks the spec of a SIPCluster: refuses what the CRD refuses, because API servers older than 1.25 ignore its rules.
 * @module
 */
import * as v from "valibot";
import { SPEC } from "./schema/spec.ts";
import type { SipClusterSpec } from "./sip_cluster.ts";

/** What is wrong with a spec, and where. */
export interface SpecProblem {
  /** `spec.services.jumpHost[0].nodePort` */
  readonly path: string;
  /** What must be; no full stop. It may show a part of the value: a spec has no secrets. */
  readonly message: string;
}

/** A spec, or what is wrong with it. */
export type CheckedSpec =
  | { readonly isValid: true; readonly spec: SipClusterSpec }
  | { readonly isValid: false; readonly problems: readonly SpecProblem[] };

/** Checks a spec. Fields that the schema does not have are left out, as an API server does. */
export function checkSpec(spec: unknown): CheckedSpec {
  const result = v.safeParse(SPEC, spec);
  if (result.success) return { isValid: true, spec: result.output };
  const problems = result.issues.map((issue) => ({
    path: toPath(issue.path),
    message: toMessage(issue),
  }));
  return { isValid: false, problems };
}

/** All problems in one text, for a condition. */
export function describeProblems(problems: readonly SpecProblem[]): string {
  return problems.map(({ path, message }) => `${path}: ${message}`).join("; ");
}

function toPath(path: readonly { readonly key: unknown }[] = []): string {
  const keys = path.map(({ key }) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`));
  return `spec${keys.join("")}`;
}

function toMessage({ type, kind, received, message }: v.BaseIssue<unknown>): string {
  if (kind !== "schema") return message;
  if (received === "undefined") return "must be set";
  return type === "object" ? "must be a map" : message;
}
