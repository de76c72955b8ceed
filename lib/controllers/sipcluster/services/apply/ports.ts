/**
 * The ports of a Service. Pure.
 * @module
 */
import { isFields } from "../../../../core/text/values.ts";
import type { KubeObject } from "../../../../kube/kinds/resource.ts";

/** The numbers of the ports of a Service; none of another object. */
export function listPorts(object: KubeObject): readonly number[] {
  const spec: unknown = object.kind === "Service" && "spec" in object ? object.spec : undefined;
  const ports: unknown = isFields(spec) ? spec["ports"] : undefined;
  if (!Array.isArray(ports)) return [];
  return ports.flatMap((one: unknown) => {
    const port = isFields(one) ? one["port"] : undefined;
    return typeof port === "number" ? [port] : [];
  });
}
