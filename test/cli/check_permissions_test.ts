import { describe, expect, test } from "bun:test";
import {
  checkPermissions,
  formatResource,
  type Needs,
  REQUIREMENTS,
} from "../../lib/cli/check_permissions.ts";
import type { PermissionsStep } from "../../lib/cli/check_report.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { ScriptedKubeClient } from "../support/scripted_kube_client.ts";

const ALL: Needs = {
  controllers: new Set(["cloud-node", "cloud-node-lifecycle", "cloud-node-label-sync"]),
  isDeletionEnabled: true,
};

/** Asks a server that denies these rights: `verb resource`. */
function check(denied: readonly string[], needs: Needs = ALL): Promise<PermissionsStep> {
  const client = new ScriptedKubeClient(new ManualClock());
  client.onWrite = ({ body }) => {
    const { resourceAttributes: wanted } = body["spec"] as { resourceAttributes: never };
    const { verb } = wanted;
    return {
      metadata: {},
      status: { allowed: !denied.includes(`${verb} ${formatResource(wanted)}`) },
    };
  };
  return checkPermissions(client, needs, new AbortController().signal);
}

describe("checkPermissions()", () => {
  test("is well when all is allowed, and then gives no advice", async () => {
    const step = await check([]);
    expect(step.status).toBe("ok");
    expect(step.advice).toBeUndefined();
    expect(step.permissions).toHaveLength(REQUIREMENTS.length);
  });

  test.each(
    REQUIREMENTS.map(({ access, mandatory }) => [
      `${access.verb} ${formatResource(access)}`,
      mandatory ? "failure" : "warning",
    ]),
  )("without %s it is a %s", async (right, level) => {
    const step = await check([right]);
    expect(step.status).toBe(level === "failure" ? "failure" : "warning");
    expect(step.permissions.filter((one) => one.level !== "ok")).toHaveLength(1);
    expect(step.advice).toContain("ClusterRole");
  });

  test("all of nodes and nodes/status is mandatory, Events and leases are not", () => {
    for (const { access, mandatory } of REQUIREMENTS) {
      expect(mandatory).toBe(access.resource === "nodes");
    }
  });

  test("needs nothing for what does not run", async () => {
    const rights = async (needs: Needs): Promise<string[]> =>
      (await check([], needs)).permissions.map((one) => `${one.verb} ${formatResource(one)}`);
    const labels = new Set(["cloud-node-label-sync"]);
    const forLabels = await rights({ ...ALL, controllers: labels });
    expect(forLabels).not.toContain("patch nodes/status");
    expect(forLabels).not.toContain("delete nodes");
    expect(forLabels).toContain("patch nodes");
    const reporting = await rights({ ...ALL, isDeletionEnabled: false });
    expect(reporting).not.toContain("delete nodes");
    expect(reporting).toContain("patch nodes/status");
  });
});

test.each([
  [{ group: "", resource: "nodes", subresource: "status", verb: "patch" }, "nodes/status"],
  [{ group: "a.b", resource: "leases", verb: "get" }, "leases.a.b"],
])("formatResource(%j) is %s", (access, text) => {
  expect(formatResource(access)).toBe(text);
});
