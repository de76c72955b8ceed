/**
 * The reference page of a kind that Kubernetes does not have, from its definition.
 * @module
 */
import type { KindDefinition } from "../../lib/controllers/definition.ts";
import type { OpenApiSchema } from "../../lib/kube/kinds/crd.ts";
import { GENERATED_NOTE, toCode, toTable } from "./markdown.ts";

/** A field of the kind. */
interface Field {
  /** `spec.services.jumpHost[].image`; `<role>` is a free key. */
  readonly path: string;
  readonly schema: OpenApiSchema;
  readonly isRequired: boolean;
}

/** File name of the page. */
export function toKindPageName({ crd }: KindDefinition): string {
  return `${crd.spec.names.plural}.md`;
}

/** Renders the page. */
export function renderKindPage({ crd, about, conditions }: KindDefinition): string {
  const { group, names, versions } = crd.spec;
  const [{ name: version, schema, additionalPrinterColumns }] = versions;
  const fields = listFields(schema.openAPIV3Schema, "");
  const below = (part: string): readonly Field[] =>
    fields.filter(({ path }) => path.startsWith(`${part}.`));
  const status = below("status");
  const [short = names.plural] = names.shortNames;
  const parts = [
    describeChecks(fields, conditions.length > 0),
    ...renderStatus(status),
    ...renderConditions(conditions),
  ];
  return `${GENERATED_NOTE}

# ${names.kind}s

${about}

The kind is ${toCode(names.kind)} of ${toCode(`${group}/${version}`)}. \`kubectl get ${short}\` lists such objects, and
\`kubectl explain ${short}.spec\` says what is on this page:

${toTable(
  ["column", "meaning"],
  additionalPrinterColumns.map(({ name, description, priority = 0 }) => [
    toCode(name),
    priority === 0 ? description : `${description} Only with ${toCode("-o wide")}.`,
  ]),
)}
## ${status.length > 0 ? "What you write" : "Its fields"}

${toFieldTable(below("spec"))}
${parts.join("\n")}`;
}

function describeChecks(fields: readonly Field[], hasConditions: boolean): string {
  const rules = fields.flatMap(toRules);
  const server =
    "The API server refuses other values." +
    (rules.length > 0 ? " It also checks these rules." : "");
  const own = hasConditions
    ? "Landfall checks all of it again:\nan object that breaks a rule gets the condition `Ready` with the reason " +
      "`InvalidSpec`, and changes nothing."
    : "Landfall checks all of it again,\nand uses no object that breaks a rule.";
  const table = rules.length > 0 ? `\n${toTable(["where", "rule"], rules)}` : "";
  return `${server} ${own}\n${table}`;
}

function renderStatus(fields: readonly Field[]): string[] {
  return fields.length === 0 ? [] : [`## What Landfall writes\n\n${toFieldTable(fields)}`];
}

function renderConditions(conditions: KindDefinition["conditions"]): string[] {
  if (conditions.length === 0) return [];
  const rows = conditions.map(({ type, status, reason, meaning }) => [
    toCode(type),
    toCode(status),
    toCode(reason),
    meaning,
  ]);
  const table = toTable(["condition", "status", "reason", "meaning"], rows);
  return [`## Conditions\n\nThe reasons never change.\n\n${table}`];
}

function listFields(schema: OpenApiSchema, path: string): Field[] {
  const { properties = {}, required = [] } = schema;
  const own = Object.entries(properties).flatMap(([key, one]) => {
    const at = path === "" ? key : `${path}.${key}`;
    return [{ path: at, schema: one, isRequired: required.includes(key) }, ...listFields(one, at)];
  });
  const { items, additionalProperties } = schema;
  return [
    ...own,
    ...(items ? listInner(items, `${path}[]`) : []),
    ...(additionalProperties ? listInner(additionalProperties, `${path}.*`) : []),
  ];
}

/** What a list or a map contains is a field of its own only if a rule is about it. */
function listInner(schema: OpenApiSchema, path: string): Field[] {
  return [{ path, schema, isRequired: false }, ...listFields(schema, path)];
}

function toFieldTable(fields: readonly Field[]): string {
  const rows = fields
    .filter(({ schema }) => schema.description !== undefined)
    .map(({ path, schema, isRequired }) => [
      toCode(path),
      toType(schema),
      isRequired ? "required" : toCode(toDefault(schema)),
      schema.description ?? "",
    ]);
  return toTable(["field", "type", "default", "meaning"], rows);
}

function toDefault({ default: fallback }: OpenApiSchema): string | undefined {
  return fallback === undefined ? undefined : JSON.stringify(fallback);
}

function toType(schema: OpenApiSchema): string {
  const { type, minimum, maximum, maxItems, items, additionalProperties } = schema;
  if (schema.enum) return schema.enum.map((one) => toCode(String(one))).join(", ");
  if (items) {
    const most = maxItems === undefined ? "" : `, at most ${maxItems}`;
    return `list of ${items.type === "object" ? "objects" : "texts"}${most}`;
  }
  if (additionalProperties) return additionalProperties.type === "object" ? "map" : "map of texts";
  if (minimum !== undefined && maximum !== undefined) return `${minimum} to ${maximum}`;
  return TYPES[type] ?? type;
}

/** Types in words for people. */
const TYPES: Readonly<Record<string, string>> = {
  boolean: "true or false",
  integer: "number",
  string: "text",
};

function toRules({ path, schema }: Field): string[][] {
  const rules = schema["x-kubernetes-validations"] ?? [];
  return rules.map(({ message }) => [toCode(path), message]);
}
