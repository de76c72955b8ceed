import { expect, test } from "bun:test";
import type { Deployment } from "../../../../lib/controllers/sipcluster/services/owned_kinds.ts";
import { judgeReadiness } from "../../../../lib/controllers/sipcluster/services/readiness.ts";
import type { ServicePlan } from "../../../../lib/controllers/sipcluster/services/types.ts";

const PLAN: ServicePlan = {
  service: "jumpHost",
  deployment: "jumphost-a",
  objects: [],
};
const PORTS = [30_000];
const WELL = { observedGeneration: 3, replicas: 2, updatedReplicas: 2, availableReplicas: 2 };

function toDeployment(
  status: Deployment["status"],
  { replicas = 2, deletionTimestamp }: { replicas?: number; deletionTimestamp?: string } = {},
): Deployment {
  const metadata = { name: "jumphost-a", namespace: "t", generation: 3 };
  return {
    metadata: { ...metadata, ...(deletionTimestamp !== undefined && { deletionTimestamp }) },
    spec: { replicas, selector: {}, template: {} },
    ...(status && { status }),
  };
}

type Conditions = NonNullable<NonNullable<Deployment["status"]>["conditions"]>;

function toCondition(type: string, status: string, reason: string): Conditions {
  return [{ type, status, reason, message: `because of ${reason}` }];
}

type Case = readonly [what: string, deployment: Deployment | undefined, says: string];

test.each<Case>([
  ["without a Deployment", undefined, "Progressing: Deployment jumphost-a is not there yet"],
  [
    "that is being deleted",
    toDeployment(WELL, { deletionTimestamp: "2026-01-01T00:00:00Z" }),
    "Progressing: Deployment jumphost-a is being deleted",
  ],
  [
    "whose Deployment has no status",
    toDeployment(undefined),
    "Progressing: Deployment jumphost-a has changes that Kubernetes did not observe yet",
  ],
  [
    "whose status is of an earlier generation",
    toDeployment({ ...WELL, observedGeneration: 2 }),
    "Progressing: Deployment jumphost-a has changes that Kubernetes did not observe yet",
  ],
  [
    "whose Pods do not get ready in time",
    toDeployment({
      ...WELL,
      availableReplicas: 1,
      conditions: toCondition("Progressing", "False", "ProgressDeadlineExceeded"),
    }),
    "ProgressDeadlineExceeded: Deployment jumphost-a fails: because of ProgressDeadlineExceeded",
  ],
  [
    "whose Pods cannot be created",
    toDeployment({
      ...WELL,
      conditions: toCondition("ReplicaFailure", "True", "FailedCreate"),
    }),
    "FailedCreate: Deployment jumphost-a fails: because of FailedCreate",
  ],
  [
    "in the middle of a rollout",
    toDeployment({ ...WELL, replicas: 3, updatedReplicas: 1 }),
    "Progressing: Deployment jumphost-a has 1 of 2 Pods of the newest form",
  ],
  [
    "at the end of a rollout",
    toDeployment({ ...WELL, replicas: 3 }),
    "Progressing: Deployment jumphost-a still has 1 Pods of an older form",
  ],
  [
    "without an available Pod",
    toDeployment({ ...WELL, availableReplicas: 0 }),
    "Progressing: Deployment jumphost-a has no available Pod of 2",
  ],
])("judgeReadiness() says that a service %s is not ready", (_what, deployment, says) => {
  const { isReady, reason, message } = judgeReadiness(PLAN, deployment, PORTS);
  expect([isReady, `${reason}: ${message}`]).toEqual([false, says]);
});

test("judgeReadiness() says that a service is ready whose Pods are all available", () => {
  expect(judgeReadiness(PLAN, toDeployment(WELL), PORTS)).toEqual({
    service: "jumpHost",
    isReady: true,
  });
  const conditions = [{ type: "Progressing", status: "True" }];
  const status = { ...WELL, conditions };
  expect(judgeReadiness(PLAN, toDeployment(status), PORTS)).toMatchObject({ isReady: true });
});

test("judgeReadiness() says that a service is ready with one Pod of two, and that one lacks", () => {
  expect(judgeReadiness(PLAN, toDeployment({ ...WELL, availableReplicas: 1 }), PORTS)).toEqual({
    service: "jumpHost",
    isReady: true,
    message: "Deployment jumphost-a has 1 of 2 Pods available",
  });
});

test("judgeReadiness() says that a service without a Deployment of its own is ready", () => {
  const { deployment: _none, ...plan } = PLAN;
  expect(judgeReadiness(plan, undefined, [])).toEqual({ service: "jumpHost", isReady: true });
});

test("judgeReadiness() says that a service is not ready before its Service has a node port", () => {
  expect(judgeReadiness(PLAN, toDeployment(WELL), [])).toEqual({
    service: "jumpHost",
    isReady: false,
    reason: "Progressing",
    message: "Deployment jumphost-a is available, but its Service has no node port yet",
  });
});

test.each([
  ["that is not available", { ...WELL, availableReplicas: 0 }, true],
  [
    "that takes too long",
    { ...WELL, conditions: toCondition("Progressing", "False", "ProgressDeadlineExceeded") },
    true,
  ],
  [
    "whose Pods Kubernetes cannot create",
    { ...WELL, conditions: toCondition("ReplicaFailure", "True", "FailedCreate") },
    false,
  ],
  ["that is ready", WELL, false],
])(
  "judgeReadiness() of a service %s names the Secret that its Pods mount: %#",
  (_what, status, isNamed) => {
    const plan: ServicePlan = { ...PLAN, mountedSecret: "node-keys" };
    const { message = "" } = judgeReadiness(plan, toDeployment(status), PORTS);
    const hint = ". The Events of its Pods say why: for example, Secret node-keys does not exist";
    expect(message.endsWith(hint)).toBe(isNamed);
  },
);
