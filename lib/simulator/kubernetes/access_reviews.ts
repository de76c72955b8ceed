/**
 * Answers of the simulated API server to reviews of the user's own access. It grants every right.
 * @module
 */
import { badRequest } from "./api_error.ts";
import type { Faults } from "./faults.ts";
import { isObject, type Json, type JsonObject, objectAt, stringAt } from "./patches/json.ts";

const WHY = "the simulator allows it";
const ALL = ["*"];

/** By path: the kind, and its status. */
const REVIEWS: ReadonlyMap<
  string,
  readonly [kind: string, toStatus: (spec: JsonObject, faults: Faults) => JsonObject]
> = new Map([
  ["authorization.k8s.io/v1/selfsubjectaccessreviews", ["SelfSubjectAccessReview", reviewAccess]],
  [
    "authorization.k8s.io/v1/selfsubjectrulesreviews",
    [
      "SelfSubjectRulesReview",
      () => ({
        resourceRules: [{ verbs: ALL, apiGroups: ALL, resources: ALL }],
        nonResourceRules: [{ verbs: ALL, nonResourceURLs: ALL }],
        incomplete: false,
      }),
    ],
  ],
  [
    "authentication.k8s.io/v1/selfsubjectreviews",
    ["SelfSubjectReview", () => ({ userInfo: { username: "simulated" } })],
  ],
]);

/**
 * What answers a review that is posted to a path: yes, unless {@linkcode Faults.deny} says no.
 *
 * @returns `undefined` if no review is posted there. The answer throws ApiError 400 if it names no verb or resource
 */
export function findReview(
  pathname: string,
  faults: Faults,
): ((body: Json) => JsonObject) | undefined {
  const path = pathname.replace("/apis/", "");
  const found = REVIEWS.get(path);
  if (found === undefined) return undefined;
  const [kind, toStatus] = found;
  const [group, version] = path.split("/");
  return (body) => {
    const spec = isObject(body) ? objectAt(body, "spec") : {};
    const head = { kind, apiVersion: `${group}/${version}`, metadata: {} };
    return { ...head, spec, status: toStatus(spec, faults) };
  };
}

function reviewAccess(spec: JsonObject, faults: Faults): JsonObject {
  if (stringAt(objectAt(spec, "nonResourceAttributes"), "verb") !== "") {
    return { allowed: true, reason: WHY };
  }
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
  return isDenied ? { allowed: false } : { allowed: true, reason: WHY };
}
