/**
 * The rights in the Helm chart: those of the controllers that run with every cloud, and of other controllers if values
 * or the cloud name them.
 * @module
 */
import { listFurtherRights, listRights, needAll, toPolicy } from "../lib/app/rights.ts";
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
    .map((one) => {
      const policy = toPolicy(listFurtherRights(needs, one.name));
      assert(policy.rules.size === 0, `the chart has no Role for the rights of ${one.name}`);
      return policy.clusterRules.length === 0
        ? ""
        : renderFurther(one, toYaml(policy.clusterRules));
    });
  return `{{- /* ${head} */}}
{{- define "landfall.clusterRules" -}}
${toYaml(clusterRules)}${further.join("")}{{- end }}

{{- define "landfall.leaseRules" -}}
${toYaml(leaseRules)}{{- end }}
`;
}

/** The chart grants these rights only if the list of controllers has the controller. */
function renderFurther(one: ControllerDefinition, rules: string): string {
  const names = [one.name, ...one.aliases, ...(one.isOffByDefault === true ? [] : ["*"])];
  const list = '(splitList "," (include "landfall.controllers" .))';
  const named = names.map((name) => `(has "${name}" ${list})`);
  return `{{- if or ${named.join(" ")} }}
${rules}{{- end }}
`;
}
