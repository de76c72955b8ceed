/**
 * What `check` says about load balancers that Landfall does not manage.
 * @module
 */
import { describe, expect, test } from "bun:test";
import {
  checkLoadBalancers,
  listChosenService,
} from "../../../../lib/cli/check/controllers/services.ts";
import { KubeError } from "../../../../lib/kube/api/errors.ts";
import { ManualClock } from "../../../support/manual_clock.ts";
import { ScriptedKubeClient, type ScriptStep } from "../../../support/kube/scripted_kube_client.ts";

const MISSING = { message: "no load balancers yet", advice: "keep the other", lease: "other" };
const { signal } = new AbortController();
const NOW_MS = Date.parse("2026-01-01T12:00:00Z");

test.each<[readonly string[], number]>([
  [["service", "route"], 1],
  [["route"], 0],
  [[], 0],
])("listChosenService() of %j has %d failures", (lacking, count) => {
  const findings = listChosenService(MISSING, new Set(lacking));
  expect(findings).toHaveLength(count);
  for (const finding of findings) {
    expect(finding).toMatchObject({ level: "failure", code: "serviceController" });
    expect(finding.advice).toContain("add -service to --controllers");
    expect(finding.advice).toContain(MISSING.advice);
  }
});

describe("checkLoadBalancers()", () => {
  const held = (renewTime?: string): object => ({
    metadata: { name: "other" },
    spec: { holderIdentity: "apache_1", leaseDurationSeconds: 15, renewTime },
  });
  const SOME = toPage([["service.kubernetes.io/load-balancer-cleanup"], undefined]);
  const REFUSED: ScriptStep = { fail: new KubeError("forbidden", "no") };

  test.each<[string, ScriptStep, object | undefined, string, string]>([
    ["no Service has one", toPage([undefined]), undefined, "ok", "no Service has"],
    [
      "no program holds the Lease",
      SOME,
      undefined,
      "failure",
      "no process holds Lease kube-system/other",
    ],
    [
      "a program renews the Lease",
      SOME,
      held("2026-01-01T11:59:50.000000Z"),
      "warning",
      "apache_1",
    ],
    ["its clock is ahead", SOME, held("2026-01-01T12:00:30.000000Z"), "warning", "apache_1"],
    [
      "the program stopped",
      SOME,
      held("2026-01-01T11:50:00.000000Z"),
      "failure",
      "no process holds",
    ],
    ["it never renewed", SOME, held(), "failure", "no process holds Lease kube-system/other"],
    [
      "it gave the Lease back",
      SOME,
      { metadata: { name: "other" }, spec: {} },
      "failure",
      "no process holds",
    ],
    ["they cannot be listed", REFUSED, undefined, "warning", "cannot list Services"],
  ])("if %s", async (_what, step, lease, level, words) => {
    const client = new ScriptedKubeClient(new ManualClock(), [step]);
    client.answerRead = ({ namespace, name }) => {
      if (namespace !== "kube-system" || name !== "other" || lease === undefined)
        throw new KubeError("notFound", "none");
      return lease;
    };
    const search = { client, missing: MISSING, namespace: "kube-system", nowMs: NOW_MS };
    const finding = await checkLoadBalancers(search, signal);
    expect(finding).toMatchObject({ level, code: "loadBalancers" });
    expect(finding.message).toContain(words);
  });

  test("fails with what is no answer of the API server", async () => {
    const client = new ScriptedKubeClient(new ManualClock(), [{ fail: new TypeError("a bug") }]);
    const search = { client, missing: MISSING, namespace: "kube-system", nowMs: NOW_MS };
    await expect(checkLoadBalancers(search, signal)).rejects.toThrow("a bug");
  });
});

/** A page of Services with these finalizers. */
function toPage(all: readonly (readonly string[] | undefined)[]): ScriptStep {
  const items = all.map((finalizers, at) => ({
    metadata: { name: `s-${at}`, namespace: "web", ...(finalizers && { finalizers }) },
  }));
  return { page: { items, resourceVersion: "1" } };
}
