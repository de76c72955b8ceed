/**
 * Reads the fields of a BareMetalHost that decide what happens to it.
 * @module
 */
import type { ApiObject, JsonObject, Metadata, ObjectName } from "../kubernetes/mod.ts";
import { objectAt, stringAt } from "../kubernetes/patches/json.ts";
import { PAUSED } from "./kinds.ts";

/** What uses a host. */
interface Consumer {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** The name and namespace of a host. */
export function pathOf({ metadata }: { readonly metadata: Metadata }): Required<ObjectName> {
  return { namespace: stringAt(metadata, "namespace"), name: metadata.name };
}

/** `status.provisioning.state`; `""` before the first. */
export function stateOf(host: ApiObject): string {
  return stringAt(objectAt(objectAt(host, "status"), "provisioning"), "state");
}

/** Who uses it, or `undefined`. */
export function consumerOf(host: ApiObject): Consumer | undefined {
  const { consumerRef } = objectAt(host, "spec");
  if (consumerRef === undefined) return undefined;
  const reference = objectAt(objectAt(host, "spec"), "consumerRef");
  return {
    kind: stringAt(reference, "kind"),
    namespace: stringAt(reference, "namespace"),
    name: stringAt(reference, "name"),
  };
}

/** Whether a machine is, or is to be, installed on it. */
export function hasImage(host: ApiObject): boolean {
  return stringAt(objectAt(objectAt(host, "spec"), "image"), "url") !== "";
}

/** Whether metal3 can switch it on and off. */
export function hasBmc(host: ApiObject): boolean {
  return stringAt(objectAt(objectAt(host, "spec"), "bmc"), "address") !== "";
}

/** Whether something else than metal3 installed a machine on it. */
export function isExternallyProvisioned(host: ApiObject): boolean {
  return objectAt(host, "spec")["externallyProvisioned"] === true;
}

/** Whether metal3 and Cluster API leave it alone. */
export function isPaused(host: ApiObject): boolean {
  return PAUSED in annotationsOf(host);
}

/** Its annotations, or none. */
export function annotationsOf({ metadata }: ApiObject): JsonObject {
  return objectAt(metadata, "annotations");
}

/** Whether it has these labels with these values. */
export function hasLabels(host: ApiObject, wanted: Readonly<Record<string, string>>): boolean {
  const labels = objectAt(host.metadata, "labels");
  return Object.entries(wanted).every(([key, value]) => labels[key] === value);
}

/** Whether a delete waits for its finalizers. */
export function isLeaving({ metadata }: ApiObject): boolean {
  return "deletionTimestamp" in metadata;
}
