/**
 * Rules that the API server checks, as far as Landfall can break them.
 * @module
 */
import type { FieldProblem } from "../api_error.ts";
import {
  isArray,
  isEqual,
  isObject,
  objectAt,
  stringAt,
  type JsonObject,
} from "../patches/json.ts";
import { finalizersOf, isDeleting } from "../writes.ts";
import type { Kind } from "./kind.ts";

const NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const LABEL_NAME = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const LABEL_VALUE = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;
const NAME_RULE =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', " +
  "and must start and end with an alphanumeric character";
const LABEL_RULE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', " +
  "and must start and end with an alphanumeric character";
const KEY_RULE =
  "name part must consist of alphanumeric characters, '-', '_' or '.', " +
  "and must start and end with an alphanumeric character";
const FINALIZER_RULE = "name is neither a standard finalizer name nor is it fully qualified";
const STANDARD_FINALIZERS = new Set(["kubernetes", "orphan", "foregroundDeletion"]);
const TAINT_EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

/**
 * Problems of an object that is about to be stored.
 *
 * @param before The object it replaces; `undefined` when it is new
 */
export function validate(
  kind: Kind,
  object: JsonObject,
  before: JsonObject | undefined,
): readonly FieldProblem[] {
  const problems = [
    ...metadataProblems(objectAt(object, "metadata")),
    ...finalizerProblems(kind, object, before),
  ];
  if (kind.kind === "Node") problems.push(...nodeProblems(object, before));
  if (kind.kind === "Event") problems.push(...eventProblems(object));
  if (kind.kind === "Lease") problems.push(...leaseProblems(objectAt(object, "spec")));
  return problems;
}

/** The problem of a field whose value breaks a rule. */
export function invalidValue(field: string, value: unknown, rule: string): FieldProblem {
  const message = `Invalid value: ${JSON.stringify(value)}: ${rule}`;
  return { reason: "FieldValueInvalid", message, field };
}

/** The problem of a field whose value is none of those that are allowed. */
export function unsupported(
  field: string,
  value: unknown,
  allowed: readonly string[],
): FieldProblem {
  const texts = allowed.map((one) => `"${one}"`).join(", ");
  const message = `Unsupported value: ${JSON.stringify(value)}: supported values: ${texts}`;
  return { reason: "FieldValueNotSupported", message, field };
}

function metadataProblems(metadata: JsonObject): readonly FieldProblem[] {
  const problems: FieldProblem[] = [];
  const name = stringAt(metadata, "name");
  if (!isSubdomain(name)) {
    problems.push(invalidValue("metadata.name", name, NAME_RULE));
  }
  for (const [key, value] of Object.entries(objectAt(metadata, "labels"))) {
    if (!isQualifiedName(key)) problems.push(invalidValue("metadata.labels", key, KEY_RULE));
    if (typeof value !== "string" || value.length <= 63) {
      if (typeof value === "string" && LABEL_VALUE.test(value)) continue;
      problems.push(invalidValue("metadata.labels", value, LABEL_RULE));
    } else {
      problems.push(invalidValue("metadata.labels", value, "must be no more than 63 characters"));
    }
  }
  for (const key of Object.keys(objectAt(metadata, "annotations"))) {
    if (!isQualifiedName(key.toLowerCase())) {
      problems.push(invalidValue("metadata.annotations", key, KEY_RULE));
    }
  }
  return problems;
}

/** An object that is being deleted gets no more finalizers. Those of built-in kinds have a domain and a name. */
function finalizerProblems(
  { isCustom }: Kind,
  object: JsonObject,
  before: JsonObject | undefined,
): readonly FieldProblem[] {
  const [old, now] = [before ?? {}, object].map((one) => finalizersOf(one));
  const field = "metadata.finalizers";
  const problems = (now ?? []).flatMap((name, index) =>
    typeof name === "string" && (isCustom || STANDARD_FINALIZERS.has(name) || name.includes("/"))
      ? []
      : [invalidValue(`${field}[${index}]`, name, FINALIZER_RULE)],
  );
  const added = (now ?? []).filter((name) => old?.includes(name) === false);
  if (added.length === 0 || before === undefined || !isDeleting(before)) return problems;
  const message =
    "Forbidden: no new finalizers can be added if the object is being deleted, " +
    `found new finalizers ${JSON.stringify(added)}`;
  return [...problems, { reason: "FieldValueForbidden", message, field }];
}

/** Whether a text may be the name of most objects, or a host name. */
export function isSubdomain(text: string): boolean {
  return text.length <= 253 && NAME.test(text);
}

/** Whether a text may be a label key: `name` or `prefix/name`. */
export function isQualifiedName(text: string): boolean {
  const parts = text.split("/");
  if (parts.length > 2) return false;
  const name = parts.at(-1) ?? "";
  const prefix = parts.length === 2 ? (parts[0] ?? "") : "a";
  return name.length <= 63 && LABEL_NAME.test(name) && prefix.length <= 253 && NAME.test(prefix);
}

function nodeProblems(object: JsonObject, before: JsonObject | undefined): readonly FieldProblem[] {
  const problems: FieldProblem[] = [...taintProblems(objectAt(object, "spec"))];
  if (before === undefined) return problems;
  for (const field of ["providerID", "podCIDR", "podCIDRs"]) {
    const was = objectAt(before, "spec")[field];
    if (was === undefined || isEqual(was, objectAt(object, "spec")[field])) continue;
    const message = `Forbidden: node updates may not change ${field} except from "" to valid`;
    problems.push({ reason: "FieldValueForbidden", message, field: `spec.${field}` });
  }
  return problems;
}

function taintProblems(spec: JsonObject): readonly FieldProblem[] {
  const taints = spec["taints"];
  if (!isArray(taints)) return [];
  const problems: FieldProblem[] = [];
  const seen = new Set<string>();
  for (const [index, taint] of taints.entries()) {
    if (!isObject(taint)) continue;
    const field = `metadata.taints[${index}]`;
    const [key, effect] = [stringAt(taint, "key"), stringAt(taint, "effect")];
    if (!isQualifiedName(key)) {
      problems.push(invalidValue(`${field}.key`, key, "name part must be non-empty"));
    }
    if (!TAINT_EFFECTS.includes(effect)) {
      problems.push(unsupported(`${field}.effect`, effect, TAINT_EFFECTS));
    }
    if (seen.has(`${key}:${effect}`)) {
      const message = `Duplicate value: ${JSON.stringify(taint)}: taints must be unique by key and effect pair`;
      problems.push({ reason: "FieldValueDuplicate", message, field });
    }
    seen.add(`${key}:${effect}`);
  }
  return problems;
}

function eventProblems(event: JsonObject): readonly FieldProblem[] {
  const namespace = stringAt(objectAt(event, "metadata"), "namespace");
  const involved = stringAt(objectAt(event, "involvedObject"), "namespace");
  if (involved === namespace || (involved === "" && namespace === "default")) return [];
  const rule = "does not match event.namespace";
  return [invalidValue("involvedObject.namespace", involved, rule)];
}

function leaseProblems(spec: JsonObject): readonly FieldProblem[] {
  const problems: FieldProblem[] = [];
  const seconds = spec["leaseDurationSeconds"];
  if (typeof seconds === "number" && seconds <= 0) {
    problems.push(invalidValue("spec.leaseDurationSeconds", seconds, "must be greater than 0"));
  }
  const transitions = spec["leaseTransitions"];
  if (typeof transitions === "number" && transitions < 0) {
    const rule = "must be greater than or equal to 0";
    problems.push(invalidValue("spec.leaseTransitions", transitions, rule));
  }
  return problems;
}
