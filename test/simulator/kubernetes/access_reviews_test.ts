import { describe, expect, test } from "bun:test";
import { systemClock } from "../../../lib/core/clock.ts";
import {
  ACCESS_REVIEW_PATH,
  reviewAccess,
} from "../../../lib/simulator/kubernetes/access_reviews.ts";
import { Faults } from "../../../lib/simulator/kubernetes/faults.ts";
import { startKubernetesSimulator } from "../../../lib/simulator/kubernetes/mod.ts";

function ask(faults: Faults, resourceAttributes: Record<string, string>): unknown {
  const { status } = reviewAccess(faults, { spec: { resourceAttributes } });
  return status;
}

describe("reviewAccess()", () => {
  test("allows everything until something is denied, and again afterwards", () => {
    const faults = new Faults();
    const attributes = { verb: "patch", resource: "nodes", subresource: "status" };
    expect(ask(faults, attributes)).toMatchObject({ allowed: true });
    const allow = faults.deny({ verb: "patch", resource: "nodes/status" });
    expect(ask(faults, attributes)).toEqual({ allowed: false });
    expect(ask(faults, { verb: "patch", resource: "nodes" })).toMatchObject({ allowed: true });
    allow();
    expect(ask(faults, attributes)).toMatchObject({ allowed: true });
    faults.deny({ namespace: "kube-system" });
    expect(ask(faults, { verb: "get", resource: "leases", namespace: "kube-system" })).toEqual({
      allowed: false,
    });
    faults.clear();
    expect(ask(faults, attributes)).toMatchObject({ allowed: true });
  });

  test("refuses a review of nothing", () => {
    expect(() => reviewAccess(new Faults(), { spec: {} })).toThrow("resourceAttributes");
    expect(() => reviewAccess(new Faults(), null)).toThrow("resourceAttributes");
  });

  test("is served over HTTP, and what is denied is refused there too", async () => {
    const { url, faults, stop } = startKubernetesSimulator({ clock: systemClock });
    faults.deny({ verb: "list", resource: "nodes" });
    const body = JSON.stringify({
      spec: { resourceAttributes: { verb: "list", resource: "nodes" } },
    });
    const headers = { "content-type": "application/json" };
    const answer = await fetch(`${url}${ACCESS_REVIEW_PATH}`, { method: "POST", headers, body });
    expect(answer.status).toBe(201);
    expect(await answer.json()).toMatchObject({
      kind: "SelfSubjectAccessReview",
      status: { allowed: false },
    });
    expect((await fetch(`${url}/api/v1/nodes`)).status).toBe(403);
    expect((await fetch(`${url}/api/v1/nodes/n`)).status).toBe(404);
    await stop();
  });
});
