/**
 * The rights in the Helm chart: those of the controllers that run with every cloud, and of other controllers if values
 * or the cloud name them.
 * @module
 */
import {
  listFurtherRights,
  listRights,
  needAll,
  type Needs,
  type NeededRight,
  type PolicyRule,
} from "../lib/app/rights.ts";
import {
  type ControllerDefinition,
  isSeparable,
  isStandalone,
} from "../lib/controllers/definition.ts";
import { CONTROLLERS } from "../lib/controllers/mod.ts";
import { assert } from "../lib/core/errors.ts";
import { listEventRights, listReviewRights } from "../lib/kube/access/rights.ts";
import { toPolicySpec } from "./admission_policy.ts";
import { LEASE, type ScopedPolicy, toScopedPolicy } from "./names.ts";
import { toYaml } from "./yaml.ts";

const LEASE_VALUE = '{{ include "landfall.lease" . }}';
/** What every pod needs. */
const COMMON = [...listEventRights(), ...listReviewRights()];

/** Renders the chart's templates with rules. @param head Comment above them */
export function renderRules(
  head: string,
  registry: readonly ControllerDefinition[] = CONTROLLERS,
): string {
  const needs = needAll(LEASE, registry);
  const base = toRules(withoutCommon(listRights(needs)));
  const further = registry
    .filter(({ name }) => !needs.controllers.has(name))
    .map((one) => ({ one, rules: toRules(listOwnRights(one, needs)) }));
  const render = (pick: (rules: Rules) => readonly PolicyRule[]): string =>
    further.map(({ one, rules }) => renderFurther(one, pick(rules))).join("");
  const leases = base.lease.map((rule) =>
    rule.resourceNames === undefined ? rule : { ...rule, resourceNames: [LEASE_VALUE] },
  );
  return `{{- /* ${head} */}}
{{- define "landfall.clusterRules" -}}
${renderBase(base.cluster)}${toYaml(toRules(COMMON).cluster)}${render(({ cluster }) => cluster)}{{- end }}

{{- define "landfall.leaseRules" -}}
${renderBase(leases)}${render(({ lease }) => lease)}{{- end }}

{{- /* What controllers need only in the namespaces of tenants: rbac.tenantNamespaces. */}}
{{- define "landfall.tenantRules" -}}
${render(({ tenants }) => tenants)}{{- end }}

{{- /* What they need of that in other namespaces with hosts: rbac.hostNamespaces. */}}
{{- define "landfall.hostsRules" -}}
${render(({ hosts }) => hosts)}{{- end }}

{{- define "landfall.policySpec" -}}
${toYaml(
  toPolicySpec({
    users: ['{{ include "landfall.user" . }}'],
    confinements: registry.flatMap(({ confinement }) => confinement ?? []),
    service: '{{ include "landfall.redfishName" . }}',
  }),
)}{{- end }}

{{- /* The controllers that need no Lease but their own, with that Lease. */}}
{{- define "landfall.separable" -}}
${renderLeases(registry.filter(isSeparable))}{{- end }}

{{- /* Those of them that need no cloud. */}}
{{- define "landfall.standalone" -}}
${renderLeases(registry.filter(isStandalone))}{{- end }}
`;
}

/** Rules of the chart's ClusterRoles, and of its Role in the namespace of the Leases. */
interface Rules extends Pick<ScopedPolicy, "hosts" | "tenants"> {
  readonly cluster: readonly PolicyRule[];
  readonly lease: readonly PolicyRule[];
}

function toRules(rights: readonly NeededRight[]): Rules {
  const { clusterRules, rules, ...scoped } = toScopedPolicy(rights);
  const { [LEASE.namespace]: lease = [], ...others } = Object.fromEntries(rules);
  assert(Object.keys(others).length === 0, `the chart has a Role only in ${LEASE.namespace}`);
  return { ...scoped, cluster: clusterRules, lease };
}

/** What a controller needs that the chart does not grant anyway. The rights of a cloud are not granted to all. */
function listOwnRights(one: ControllerDefinition, needs: Needs): NeededRight[] {
  if (!isSeparable(one)) return listFurtherRights(needs, one.name);
  return withoutCommon(listRights({ ...needs, controllers: new Set([one.name]) }));
}

function withoutCommon(rights: readonly NeededRight[]): NeededRight[] {
  const common = new Set(COMMON.map(({ access }) => JSON.stringify(access)));
  return rights.filter(({ access }) => !common.has(JSON.stringify(access)));
}

/** Not granted if the release runs only controllers that need no Lease but their own. */
function renderBase(rules: readonly PolicyRule[]): string {
  return `{{- if ne (include "landfall.isSeparate" .) "true" -}}
${toYaml(rules)}{{- end }}
`;
}

/** The chart grants these rights only if the list of controllers has the controller. */
function renderFurther(one: ControllerDefinition, rules: readonly PolicyRule[]): string {
  if (rules.length === 0) return "";
  const names = [one.name, ...one.aliases, ...(one.isOffByDefault === true ? [] : ["*"])];
  const list = '(splitList "," (include "landfall.controllers" .))';
  const named = names.map((name) => `(has "${name}" ${list})`);
  return `{{- if or ${named.join(" ")} }}
${toYaml(rules)}{{- end }}
`;
}

function renderLeases(controllers: readonly ControllerDefinition[]): string {
  return toYaml(Object.fromEntries(controllers.flatMap(toLeases)));
}

function toLeases({ name, aliases, lease }: ControllerDefinition): (readonly [string, string])[] {
  return lease === undefined ? [] : [name, ...aliases].map((one) => [one, lease] as const);
}
