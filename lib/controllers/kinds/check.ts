/**
 * Checks the spec of an object of our kinds by its schema: refuses what the CRD refuses, because API servers older than
 * 1.25 ignore its rules.
 * @module
 */
import * as v from "valibot";
import type { KubeObject } from "../../kube/kinds/resource.ts";
import type { Schema } from "./parts.ts";
import type { SpecProblem } from "./problems.ts";

/** A spec, or what is wrong with it. */
export type Checked<Spec> =
  | { readonly isValid: true; readonly spec: Spec }
  | { readonly isValid: false; readonly problems: readonly SpecProblem[] };

/** Checks a spec. Fields that the schema does not have are left out, as an API server does. */
export function checkBySchema<Spec>(schema: Schema<Spec>, spec: unknown): Checked<Spec> {
  const result = v.safeParse(schema, spec);
  if (result.success) return { isValid: true, spec: result.output };
  const problems = result.issues.map((issue) => ({
    path: toPath(issue.path),
    message: toMessage(issue),
  }));
  return { isValid: false, problems };
}

/** Kubernetes allows longer names of objects, but not of labels' values. */
const NAME_LENGTH_MAX = 63;

/** Checks the spec of an object, and its name, which becomes the value of a label on its hosts. */
export function checkNamed<Spec>(
  schema: Schema<Spec>,
  { metadata: { name }, spec }: KubeObject & { readonly spec?: unknown },
): Checked<Spec> {
  const checked = checkBySchema(schema, spec);
  if (name.length <= NAME_LENGTH_MAX) return checked;
  const message = `must have at most ${NAME_LENGTH_MAX} characters, because hosts get it as the value of a label`;
  const problems = checked.isValid ? [] : checked.problems;
  return { isValid: false, problems: [{ path: "metadata.name", message }, ...problems] };
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
