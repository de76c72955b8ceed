/**
 * The ValidatingAdmissionPolicy that limits what the account of a controller may write. RBAC counts verbs: it cannot
 * tell a Secret that makes the API server give out a token from any other.
 * @module
 */
import type { Confinement } from "../lib/controllers/definition.ts";
import { NAMESPACE } from "./names.ts";
import type { Piece } from "./pod.ts";

/** The first version of Kubernetes that has the kind, without a feature gate. */
export const POLICY_FROM = "1.30";

/** Whom a policy limits, and to what. */
interface Limits {
  /** Names of the users. */
  readonly users: readonly string[];
  /** Of the controllers that run as these users. */
  readonly confinements: readonly Confinement[];
  /** Name of the Service to which they may lead clients. */
  readonly service: string;
}

interface Validation {
  readonly expression: string;
  readonly message: string;
}

/** `spec` of the policy. */
export function toPolicySpec({ users, confinements, service }: Limits): Piece {
  const labels = confinements.flatMap(({ secretLabels }) => secretLabels);
  const accounts = confinements.flatMap(({ podAccounts }) => podAccounts);
  return {
    failurePolicy: "Fail",
    matchConstraints: {
      resourceRules: [
        toRule("", ["configmaps", "secrets", "serviceaccounts", "services"]),
        toRule("apps", ["deployments"]),
        toRule("discovery.k8s.io", ["endpointslices"]),
        toRule("policy", ["poddisruptionbudgets"]),
        toRule("rbac.authorization.k8s.io", ["roles", "rolebindings"]),
      ],
    },
    matchConditions: [
      { name: "is-landfall", expression: `request.userInfo.username in ${toList(users)}` },
    ],
    variables: [
      { name: "resource", expression: "request.resource.resource" },
      { name: "isGone", expression: "request.operation == 'DELETE'" },
      { name: "labels", expression: toLabels("object") },
      { name: "oldLabels", expression: toLabels("oldObject") },
      // Fields that only some of the kinds have. Policies are checked for all kinds that they match.
      { name: "body", expression: "dyn(object)" },
      { name: "pod", expression: "variables.body.spec.template.spec" },
      {
        name: "containers",
        expression:
          "variables.pod.containers + (has(variables.pod.initContainers) ? variables.pod.initContainers : [])",
      },
    ],
    validations: [
      {
        expression: `request.namespace != '${NAMESPACE}' || variables.resource == 'endpointslices'`,
        message: `Landfall writes no Secret, account, role or workload in ${NAMESPACE}`,
      },
      {
        expression:
          "variables.resource != 'endpointslices' || variables.isGone || " +
          hasLabel("variables.labels", `kubernetes.io/service-name=${service}`),
        message: `Landfall writes only EndpointSlices of the Service ${service}`,
      },
      {
        expression:
          "variables.resource != 'secrets' || variables.isGone || " +
          `(variables.body.type in ['Opaque', 'kubernetes.io/tls'] && (${hasSome("variables.labels", labels)}))`,
        message:
          "Landfall writes only Secrets of type Opaque or kubernetes.io/tls, with a label of Landfall",
      },
      {
        expression:
          "variables.resource != 'secrets' || oldObject == null || " +
          `(${hasSome("variables.oldLabels", labels)})`,
        message: "Landfall changes and deletes only Secrets that have a label of Landfall already",
      },
      ...toPodValidations(accounts),
    ].map(({ expression, message }) => {
      return { expression: toLines(expression), message, reason: "Forbidden" };
    }),
  };
}

/** A Pod that is root on its Node, or runs as an account of another program, is the way to more rights. */
function toPodValidations(accounts: readonly string[]): Validation[] {
  const ofPods = "variables.resource != 'deployments' || variables.isGone || ";
  const name = "variables.pod.serviceAccountName";
  const isOwn = `${toList(accounts)}.exists(start, ${name}.startsWith(start))`;
  return [
    {
      expression: `${ofPods}!has(${name}) || ${name} == ''${accounts.length > 0 ? ` || ${isOwn}` : ""}`,
      message: "Landfall runs Pods only as ServiceAccounts that it makes",
    },
    {
      expression:
        ofPods +
        ["hostNetwork", "hostPID", "hostIPC"]
          .map((field) => `(!has(variables.pod.${field}) || !variables.pod.${field})`)
          .join(" && "),
      message: "Landfall runs no Pods in the namespaces of their Node",
    },
    {
      expression: `${ofPods}!has(variables.pod.volumes) || !variables.pod.volumes.exists(one, has(one.hostPath))`,
      message: "Landfall mounts no files of Nodes",
    },
    {
      expression:
        `${ofPods}variables.containers.all(one, !has(one.securityContext) || ` +
        "((!has(one.securityContext.privileged) || !one.securityContext.privileged) && " +
        "(!has(one.securityContext.capabilities) || !has(one.securityContext.capabilities.add))))",
      message: "Landfall runs no privileged containers",
    },
  ];
}

/** `spec` of the binding. */
export function toBindingSpec(policyName: string): Piece {
  return { policyName, validationActions: ["Deny"] };
}

function toRule(group: string, resources: readonly string[]): Piece {
  const operations = ["CREATE", "UPDATE", "DELETE"];
  return { apiGroups: [group], apiVersions: ["*"], operations, resources };
}

/** One condition on a line. */
function toLines(expression: string): string {
  return expression.replaceAll(/ (\|\||&&) /g, " $1\n");
}

/** The labels of an object, also of one that is not there. */
function toLabels(object: "object" | "oldObject"): string {
  return `${object} != null && has(${object}.metadata.labels) ? ${object}.metadata.labels : {}`;
}

function hasSome(labels: string, wanted: readonly string[]): string {
  return wanted.length === 0 ? "false" : wanted.map((one) => hasLabel(labels, one)).join(" || ");
}

/** @param wanted `key` or `key=value` */
function hasLabel(labels: string, wanted: string): string {
  const [key = "", value] = wanted.split("=");
  const has = `'${key}' in ${labels}`;
  return value === undefined ? has : `('${key}' in ${labels} && ${labels}['${key}'] == '${value}')`;
}

function toList(texts: readonly string[]): string {
  return `[${texts.map((one) => `'${one}'`).join(",\n")}]`;
}
