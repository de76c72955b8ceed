/**
 * Answers of the simulated API server to access reviews.
 * @module
 */
import { badRequest } from "./api_error.ts";
import type { Faults } from "./faults.ts";
import { isObject, type Json, type JsonObject, objectAt, stringAt } from "./patches/json.ts";

/** Where reviews of the user's own access are posted. */
export const ACCESS_REVIEW_PATH = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

/**
 * Answers a SelfSubjectAccessReview: yes, unless {@linkcode Faults.deny} says no.
 *
 * @param body The posted body
 * @throws ApiError 400 if it names no verb or resource
 */
export function reviewAccess(faults: Faults, body: Json): JsonObject {
  const spec = isObject(body) ? objectAt(body, "spec") : {};
  const attributes = objectAt(spec, "resourceAttributes");
  if (stringAt(attributes, "verb") === "") {
    throw badRequest("spec.resourceAttributes: Invalid value: must be a verb and a resource");
  }
  const subresource = stringAt(attributes, "subresource");
  const resource = stringAt(attributes, "resource");
  const isDenied = faults.denies({
    verb: stringAt(attributes, "verb"),
    resource: subresource === "" ? resource : `${resource}/${subresource}`,
    namespace: stringAt(attributes, "namespace"),
  });
  return {
    kind: "SelfSubjectAccessReview",
    apiVersion: "authorization.k8s.io/v1",
    metadata: {},
    spec,
    status: isDenied ? { allowed: false } : { allowed: true, reason: "the simulator allows it" },
  };
}
