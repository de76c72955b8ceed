/**
 * Says why the API server does not take an object.
 * @module
 */
import { describeError } from "../../core/errors.ts";
import type { KubeError } from "../../kube/api/errors.ts";
import { SECRETS } from "../../kube/kinds/secret.ts";

/** Describes a refusal. Messages of the API server may repeat values: those of a Secret are not shown. */
export function describeRefusal(error: KubeError, kind: string | undefined): string {
  if (kind !== SECRETS.kind) return describeError(error);
  const fields = error.fields.map(({ field }) => field).join(", ");
  return fields === "" ? `${error.code ?? ""} ${error.reason ?? ""}`.trim() : fields;
}
