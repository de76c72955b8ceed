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
  const labels = confinements.flatMap((one) => one.labels);
  const accounts = confinements.flatMap((one) => one.accounts);
  const roleRules = confinements.flatMap((one) => one.roleRules);
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
          "variables.body.type in ['Opaque', 'kubernetes.io/tls']",
        message: "Landfall writes only Secrets of type Opaque or kubernetes.io/tls",
      },
      {
        expression: `${OF_LABELLED} || variables.isGone || ${hasSome("variables.labels", labels)}`,
        message:
          "Landfall writes only ConfigMaps, Deployments and Secrets with a label of Landfall",
      },
      {
        expression: `${OF_LABELLED} || oldObject == null || ${hasSome("variables.oldLabels", labels)}`,
        message:
          "Landfall changes only ConfigMaps, Deployments and Secrets that have its label already",
      },
      ...toAccountValidations({ accounts, labels, roleRules }),
      ...toPodValidations(accounts),
    ].map(({ expression, message }) => {
      return { expression: toLines(expression), message, reason: "Forbidden" };
    }),
  };
}

const OF_LABELLED = "!(variables.resource in ['configmaps', 'deployments', 'secrets'])";

/** An account with the rights of Landfall would not be limited by this policy. */
function toAccountValidations({ accounts, labels, roleRules }: Confinement): Validation[] {
  const isOwnName = (name: string): string => startsAsOne(name, accounts);
  const allowed = roleRules.map(({ apiGroup, resources, verbs }) =>
    [
      `rule.apiGroups == ['${apiGroup}']`,
      `rule.resources.all(one, one in ${toList(resources)})`,
      `rule.verbs.all(one, one in ${toList(verbs)})`,
    ].join(" && "),
  );
  const isAllowed = allowed.length === 0 ? "false" : allowed.map((one) => `(${one})`).join(" || ");
  return [
    {
      expression:
        "!(variables.resource in ['serviceaccounts', 'roles', 'rolebindings']) || " +
        `${isOwnName("request.name")} || (variables.isGone && (${hasSome("variables.oldLabels", labels)}))`,
      message: "Landfall writes only accounts, Roles and RoleBindings whose names begin as its own",
    },
    {
      expression:
        "variables.resource != 'roles' || variables.isGone || !has(variables.body.rules) || " +
        `variables.body.rules.all(rule, has(rule.apiGroups) && has(rule.resources) && (${isAllowed}))`,
      message: "Landfall gives an account only the rights of a jump host or an OIDC provider",
    },
    {
      expression:
        "variables.resource != 'rolebindings' || variables.isGone || " +
        `(variables.body.roleRef.kind == 'Role' && ${isOwnName("variables.body.roleRef.name")} && ` +
        "has(variables.body.subjects) && variables.body.subjects.all(one, one.kind == 'ServiceAccount' && " +
        `one.namespace == request.namespace && ${isOwnName("one.name")}))`,
      message: "Landfall binds only its own Roles, and only to accounts that it makes",
    },
  ];
}

/** A Pod that is root on its Node, or runs as an account of another program, is the way to more rights. */
function toPodValidations(accounts: readonly string[]): Validation[] {
  const ofPods = "variables.resource != 'deployments' || variables.isGone || ";
  const name = "variables.pod.serviceAccountName";
  const isNameless = `!has(${name}) || ${name} in ['', 'default']`;
  const getsToken = "variables.pod.automountServiceAccountToken";
  return [
    {
      expression: `${ofPods}${isNameless} || ${startsAsOne(name, accounts)}`,
      message: "Landfall runs Pods only as ServiceAccounts that it makes",
    },
    {
      expression: `${ofPods}!(${isNameless}) || (has(${getsToken}) && !${getsToken})`,
      message: "Landfall gives no token of a namespace's default ServiceAccount to Pods",
    },
    {
      expression:
        `${ofPods}!has(variables.pod.volumes) || !variables.pod.volumes.exists(one, has(one.projected) && ` +
        "has(one.projected.sources) && one.projected.sources.exists(source, has(source.serviceAccountToken)))",
      message: "Landfall mounts no token into Pods by itself",
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

/** Whether a name begins as one of ours. */
function startsAsOne(name: string, accounts: readonly string[]): string {
  if (accounts.length === 0) return "false";
  return `${toList(accounts)}.exists(start, ${name}.startsWith(start))`;
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
