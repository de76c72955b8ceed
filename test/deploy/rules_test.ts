/**
 * The rights in the chart's templates.
 * @module
 */
import { expect, test } from "bun:test";
import { renderRules } from "../../deploy/rules.ts";
import { CONTROLLERS } from "../../lib/controllers/mod.ts";
import { TWIN_LEASE, TWIN_NAME, twinController } from "../support/galleries/twin.ts";

/** The text of a template by its name. */
function split(text: string): Map<string, string> {
  const parts = text.split(/^\{\{- define "landfall\.(\w+)" -\}\}\n/m).slice(1);
  return new Map(parts.flatMap((name, at) => (at % 2 === 0 ? [[name, parts[at + 1] ?? ""]] : [])));
}

const templates = split(renderRules("Some.", [...CONTROLLERS, twinController]));

/** What stands behind a condition that matches, up to its end. */
function findBlock(name: string, condition: RegExp): string | undefined {
  const [, ...blocks] = (templates.get(name) ?? "").split("{{- if ");
  return blocks.find((block) => condition.test(block))?.split("{{- end }}")[0];
}

test("renderRules() grants the rights of a cloud only where a controller of one may run", () => {
  expect(findBlock("clusterRules", /isStandalone/)).toContain("resources: [nodes]");
  expect(findBlock("clusterRules", /isStandalone/)).not.toContain("events");
  expect(findBlock("leaseRules", /isStandalone/)).toContain('include "landfall.lease"');
});

test("renderRules() grants a controller that can run alone all that it needs, with its Lease", () => {
  const condition = new RegExp(`^or .*"${TWIN_NAME}"`);
  const own = findBlock("clusterRules", condition) ?? "";
  expect(own).toContain("resources: [galleries]\n  verbs: [list, watch, patch, delete]");
  expect(own).not.toMatch(/nodes|events/);
  const lease = findBlock("leaseRules", condition) ?? "";
  expect(lease).toContain(`resourceNames: [${TWIN_LEASE}]\n  verbs: [get, update]`);
  expect(lease).toContain("verbs: [create]");
});

test("renderRules() lists such controllers by every name, with their Leases", () => {
  const [alias = ""] = twinController.aliases;
  expect(templates.get("standalone")?.split("{{-")[0]).toEndWith(
    `${TWIN_NAME}: ${TWIN_LEASE}\n${alias}: ${TWIN_LEASE}\n`,
  );
});
