/**
 * Says why the API server does not take an object.
 * @module
 */
import { describeError } from "../../../../core/errors.ts";
import { KubeError } from "../../../../kube/api/errors.ts";
import { isFields } from "../../../../core/text/values.ts";
import { describeCause, describeRefusal } from "../../../kinds/problems.ts";
import type { OwnedObject } from "../types.ts";

/** Why an object is not as wanted. */
export interface Refusal {
  /** For a condition. */
  readonly reason: string;
  /** One sentence, without a full stop. */
  readonly message: string;
}

/** Reasons of conditions. */
export const REASONS = {
  /** A node port is taken or out of range. */
  nodePort: "NodePortUnavailable",
  /** An object of the same name belongs to something else. */
  notOurs: "NameTaken",
  /** The API server refuses the object, or does not know its kind or namespace. */
  refused: "ObjectRefused",
  /** A right is missing, a quota is used up, or an admission plugin refuses. */
  forbidden: "Forbidden",
  /** Another program changes the object again after each correction. */
  contested: "Contested",
  /** Kubernetes still deletes what stood there. */
  waits: "Progressing",
} as const;

/** Names an object in messages: `Service jumphost-a`. */
export function nameObject({ kind, metadata }: OwnedObject["body"]): string {
  return `${kind} ${metadata.name}`;
}

/**
 * Turns an error into a refusal of one object, if another try of the same soon would end the same.
 *
 * @param findHolder Returns the name of the Service in the same namespace that has a node port, if there is one
 * @returns `undefined` for any other error: the whole must be tried again
 */
export function toRefusal(
  error: unknown,
  { body }: OwnedObject,
  findHolder: (nodePort: number) => string | undefined,
): Refusal | undefined {
  if (!(error instanceof KubeError)) return undefined;
  const what = nameObject(body);
  if (error.kind === "forbidden") {
    return { reason: REASONS.forbidden, message: `${what}: ${describeCause(error)}` };
  }
  if (error.kind === "notFound" || error.kind === "alreadyExists") {
    return { reason: REASONS.refused, message: `${what}: ${describeError(error)}` };
  }
  if (error.kind !== "invalid") return undefined;
  const taken = error.fields.flatMap(({ field, message }) => {
    const port = findNodePort(body, field);
    if (port === undefined) return [];
    const holder = findHolder(port);
    const way = `, by Service ${holder}. To swap ports, give one of the two another port first`;
    return [`node port ${port}: ${message}${holder === undefined ? "" : way}`];
  });
  if (taken.length > 0)
    return { reason: REASONS.nodePort, message: `${what} cannot have ${taken.join(", ")}` };
  return {
    reason: REASONS.refused,
    message: `${what} is refused: ${describeRefusal(error, body.kind)}`,
  };
}

/** The node port at the path of a field, such as `spec.ports[0].nodePort`. */
function findNodePort(body: OwnedObject["body"], field: string): number | undefined {
  const [, at] = /^spec\.ports\[(\d+)\]\.nodePort$/.exec(field) ?? [];
  const spec: unknown = "spec" in body ? body.spec : undefined;
  const ports: unknown = isFields(spec) ? spec["ports"] : undefined;
  const port: unknown = Array.isArray(ports) && at !== undefined ? ports[Number(at)] : undefined;
  const nodePort = isFields(port) ? port["nodePort"] : undefined;
  return typeof nodePort === "number" ? nodePort : undefined;
}
