/**
 * The rights in the chart's templates.
 * @module
 */
import { expect, test } from "bun:test";
import { renderRules } from "../../deploy/rules.ts";
import { CONTROLLERS } from "../../lib/controllers/mod.ts";
import {
  CLOUD_TWIN_LEASE,
  CLOUD_TWIN_NAME,
  cloudTwinController,
  TWIN_LEASE,
  TWIN_NAME,
  twinController,
} from "../support/galleries/twin.ts";

/** The text of a template by its name. */
function split(text: string): Map<string, string> {
  const parts = text.split(/^\{\{- define "landfall\.(\w+)" -\}\}\n/m).slice(1);
  return new Map(parts.flatMap((name, at) => (at % 2 === 0 ? [[name, parts[at + 1] ?? ""]] : [])));
}

const templates = split(
  renderRules("Some.", [...CONTROLLERS, twinController, cloudTwinController]),
);

/** What stands behind a condition that matches, up to its end. */
function findBlock(name: string, condition: RegExp): string | undefined {
  const [, ...blocks] = (templates.get(name) ?? "").split("{{- if ");
  return blocks.find((block) => condition.test(block))?.split("{{- end }}")[0];
}

test("renderRules() grants the rights of a cloud only where a controller of one may run", () => {
  expect(findBlock("clusterRules", /isSeparate/)).toContain("resources: [nodes]");
  expect(findBlock("clusterRules", /isSeparate/)).not.toContain("events");
  expect(findBlock("leaseRules", /isSeparate/)).toContain('include "landfall.lease"');
});

test("renderRules() grants a controller with a cloud and its own Lease only to read Nodes", () => {
  const condition = new RegExp(`^or .*"${CLOUD_TWIN_NAME}"`);
  const own = findBlock("clusterRules", condition) ?? "";
  expect(own).toContain("resources: [nodes]\n  verbs: [list, watch]");
  expect(own).toContain("resources: [galleries]\n  verbs: [list, watch, patch, delete]");
  const lease = findBlock("leaseRules", condition) ?? "";
  expect(lease).toContain(`resourceNames: [${CLOUD_TWIN_LEASE}]`);
  expect(lease).not.toContain("landfall.lease");
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
  const twin = `${TWIN_NAME}: ${TWIN_LEASE}\n${alias}: ${TWIN_LEASE}\n`;
  expect(templates.get("standalone")?.split("{{-")[0]).toEndWith(twin);
  expect(templates.get("separable")?.split("{{-")[0]).toEndWith(
    `${twin}${CLOUD_TWIN_NAME}: ${CLOUD_TWIN_LEASE}\n`,
  );
});
