/**
 * What uses a BareMetalHost, in words.
 * @module
 */
import type { ConsumerReference } from "../../kube/kinds/bare_metal_host.ts";

/** With kind, namespace and name: `Metal3Machine tenants/worker-1`. */
export function describeConsumer({
  kind = "",
  namespace = "",
  name = "",
}: ConsumerReference): string {
  return `${kind} ${[namespace, name].filter(Boolean).join("/")}`.trim();
}
