/**
 * The rights in the Helm chart: those of the controllers that run with every cloud, and of other controllers if values
 * or the cloud name them.
 * @module
 */
import {
  listFurtherRights,
  listRights,
  needAll,
  type Policy,
  type PolicyRule,
  toPolicy,
} from "../lib/app/rights.ts";
import type { ControllerDefinition } from "../lib/controllers/definition.ts";
import { CONTROLLERS } from "../lib/controllers/mod.ts";
import { assert } from "../lib/core/assert.ts";
import { LEASE } from "./names.ts";
import { toYaml } from "./yaml.ts";

const LEASE_VALUE = '{{ include "landfall.lease" . }}';

/** Renders the chart's templates with rules. @param head Comment above them */
export function renderRules(
  head: string,
  registry: readonly ControllerDefinition[] = CONTROLLERS,
): string {
  const needs = needAll(LEASE, registry);
  const { clusterRules, rules } = toPolicy(listRights(needs));
  const leaseRules = rules
    .get(LEASE.namespace)
    ?.map((rule) =>
      rule.resourceNames === undefined ? rule : { ...rule, resourceNames: [LEASE_VALUE] },
    );
  const further = registry
    .filter(({ name }) => !needs.controllers.has(name))
    .map((one) => ({ one, policy: toPolicy(listFurtherRights(needs, one.name)) }));
  const render = (pick: (policy: Policy) => readonly PolicyRule[]): string =>
    further.map(({ one, policy }) => renderFurther(one, pick(policy))).join("");
  const furtherLeases = render((policy) => {
    const { [LEASE.namespace]: own = [], ...others } = Object.fromEntries(policy.rules);
    assert(Object.keys(others).length === 0, `the chart has a Role only in ${LEASE.namespace}`);
    return own;
  });
  return `{{- /* ${head} */}}
{{- define "landfall.clusterRules" -}}
${toYaml(clusterRules)}${render((policy) => policy.clusterRules)}{{- end }}

{{- define "landfall.leaseRules" -}}
${toYaml(leaseRules)}${furtherLeases}{{- end }}
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
