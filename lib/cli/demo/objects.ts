/**
 * Objects of kinds that Kubernetes does not have, as the simulated API server keeps them.
 * @module
 */
import type { CustomResourceDefinition } from "../../kube/kinds/crd.ts";
import type { ApiObject, CustomKind } from "../../simulator/kubernetes/mod.ts";
import {
  isArray,
  isObject,
  type JsonObject,
  objectAt,
  stringAt,
} from "../../simulator/kubernetes/patches/json.ts";

/** The kind of a CustomResourceDefinition, with its short names and columns. */
export function toCustomKind(kind: CustomKind, { spec }: CustomResourceDefinition): CustomKind {
  const [{ additionalPrinterColumns: columns }] = spec.versions;
  return { ...kind, shortNames: spec.names.shortNames, columns };
}

/** A condition for the newest spec as `status reason`; `""` without one. */
export function conditionOf(object: ApiObject | undefined, type: string = "Ready"): string {
  const found = findCondition(object, type);
  const generation = object?.metadata["generation"];
  if (found === undefined || found["observedGeneration"] !== generation) return "";
  return `${stringAt(found, "status")} ${stringAt(found, "reason")}`;
}

/** The message of a condition, after the namespace and name of the object. */
export function messageOf(object: ApiObject | undefined, type: string): string {
  const message = stringAt(findCondition(object, type) ?? {}, "message");
  const { metadata = {} } = object ?? {};
  return `${stringAt(metadata, "namespace")}/${stringAt(metadata, "name")}: ${message}`;
}

function findCondition(object: ApiObject | undefined, type: string): JsonObject | undefined {
  const { conditions } = objectAt(object ?? {}, "status");
  const all = isArray(conditions) ? conditions.filter(isObject) : [];
  return all.find((one) => stringAt(one, "type") === type);
}

/** A label; empty if there is none. */
export function labelOf({ metadata }: ApiObject, key: string): string {
  return stringAt(objectAt(metadata, "labels"), key);
}
