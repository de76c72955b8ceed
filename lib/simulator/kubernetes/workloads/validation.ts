/**
 * Why the API server refuses a Deployment or a RoleBinding.
 * @module
 */
import type { FieldProblem } from "../api_error.ts";
import { isArray, isEqual, objectAt, type JsonObject } from "../patches/json.ts";
import { invalidValue } from "../schema/validation.ts";

/** Problems of a Deployment that is about to be stored. */
export function deploymentProblems(
  deployment: JsonObject,
  before: JsonObject | undefined,
): readonly FieldProblem[] {
  const spec = objectAt(deployment, "spec");
  const selector = objectAt(spec, "selector");
  const template = objectAt(spec, "template");
  const problems: FieldProblem[] = [];
  if (before !== undefined && !isEqual(objectAt(objectAt(before, "spec"), "selector"), selector)) {
    problems.push(invalidValue("spec.selector", selector, "field is immutable"));
  }
  if (Object.keys(selector).length === 0) problems.push(required("spec.selector"));
  const labels = objectAt(objectAt(template, "metadata"), "labels");
  const wanted = Object.entries(objectAt(selector, "matchLabels"));
  if (wanted.some(([key, value]) => labels[key] !== value)) {
    const rule = "`selector` does not match template `labels`";
    problems.push(invalidValue("spec.template.metadata.labels", labels, rule));
  }
  if (!isArray(objectAt(template, "spec")["containers"])) {
    problems.push(required("spec.template.spec.containers"));
  }
  return problems;
}

/** Problems of a RoleBinding that is about to be stored: it is for one role for ever. */
export function bindingProblems(
  binding: JsonObject,
  before: JsonObject | undefined,
): readonly FieldProblem[] {
  const role = objectAt(binding, "roleRef");
  if (before === undefined || isEqual(objectAt(before, "roleRef"), role)) return [];
  return [invalidValue("roleRef", role, "cannot change roleRef")];
}

function required(field: string): FieldProblem {
  return { reason: "FieldValueRequired", message: "Required value", field };
}
