import { describe, expect, test } from "bun:test";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import type { KubeClient } from "../../../lib/kube/api/client.ts";
import {
  createDelegatedReviewer,
  createReviewMetrics,
  type DelegatedReviewer,
} from "../../../lib/kube/access/delegated_review.ts";
import { KubeError } from "../../../lib/kube/api/errors.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { ScriptedKubeClient } from "../../support/kube/scripted_kube_client.ts";

const { signal } = new AbortController();
const USER = {
  username: "system:serviceaccount:monitoring:prometheus",
  uid: "u-1",
  groups: ["system:authenticated"],
  extra: { "authentication.kubernetes.io/pod-name": ["p"] },
};

interface Sent {
  readonly plural: string;
  readonly body: object;
}

/** Answers one `create` after another with these. */
function start(answers: readonly unknown[]): {
  reviewer: DelegatedReviewer;
  metrics: MetricsRegistry;
  sent: Sent[];
} {
  const sent: Sent[] = [];
  const left = [...answers];
  const create = (resource: { readonly plural: string }, _path: object, body: object) => {
    sent.push({ plural: resource.plural, body });
    const answer = left.shift();
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
  };
  const client: KubeClient = Object.assign(new ScriptedKubeClient(new ManualClock()), { create });
  const metrics = new MetricsRegistry();
  return { reviewer: createDelegatedReviewer(client, createReviewMetrics(metrics)), metrics, sent };
}

describe("createDelegatedReviewer()", () => {
  test("authenticate() sends the token and gives whose it is", async () => {
    const { reviewer, sent } = start([{ status: { authenticated: true, user: USER } }]);
    expect(await reviewer.authenticate("t", signal)).toEqual(USER);
    expect(sent).toEqual([
      {
        plural: "tokenreviews",
        body: {
          apiVersion: "authentication.k8s.io/v1",
          kind: "TokenReview",
          spec: { token: "t" },
        },
      },
    ]);
  });

  test.each<[title: string, status: object]>([
    ["a token that is not accepted", { error: "invalid bearer token" }],
    ["a clear no", { authenticated: false, user: USER }],
    ["a number for a yes", { authenticated: 1, user: USER }],
    ["a word for a yes", { authenticated: "true", user: USER }],
  ])("authenticate() gives nobody for %s", async (_title, status) => {
    const { reviewer } = start([{ status }]);
    expect(await reviewer.authenticate("t", signal)).toBeUndefined();
  });

  test.each<[title: string, answer: unknown]>([
    ["an answer without status", { kind: "TokenReview" }],
    ["a status of nothing", { status: null }],
    ["a status that is no object", { status: "authenticated" }],
    ["somebody without a name", { status: { authenticated: true, user: {} } }],
    ["nobody", { status: { authenticated: true, user: null } }],
    ["a name that is none", { status: { authenticated: true, user: { username: 1 } } }],
    ["a UID that is none", { status: { authenticated: true, user: { ...USER, uid: 1 } } }],
    [
      "a group where a list belongs",
      { status: { authenticated: true, user: { ...USER, groups: "system:masters" } } },
    ],
    [
      "extra fields of another shape",
      { status: { authenticated: true, user: { ...USER, extra: { a: "b" } } } },
    ],
  ])("authenticate() takes %s for none", async (_title, answer) => {
    const { reviewer } = start([answer]);
    await expect(reviewer.authenticate("t", signal)).rejects.toMatchObject({ kind: "unavailable" });
  });

  test.each([[true], [false]])(
    "authorize() sends all about somebody and gives %p",
    async (allowed) => {
      const { reviewer, sent } = start([{ status: { allowed } }]);
      expect(await reviewer.authorize(USER, { path: "/metrics", verb: "get" }, signal)).toBe(
        allowed,
      );
      expect(sent).toEqual([
        {
          plural: "subjectaccessreviews",
          body: {
            apiVersion: "authorization.k8s.io/v1",
            kind: "SubjectAccessReview",
            spec: {
              user: USER.username,
              uid: USER.uid,
              groups: USER.groups,
              extra: USER.extra,
              nonResourceAttributes: { path: "/metrics", verb: "get" },
            },
          },
        },
      ]);
    },
  );

  test.each<[unknown]>([
    [undefined],
    [null],
    ["allowed"],
    [{}],
    [{ allowed: "true" }],
    [{ allowed: 1 }],
    [{ allowed: [true] }],
    [{ allowed: true, denied: true }],
    [{ allowed: true, denied: "no" }],
  ])("authorize() takes a status of %j for no answer", async (status) => {
    const { reviewer } = start([{ status }]);
    const asked = reviewer.authorize(USER, { path: "/metrics", verb: "get" }, signal);
    await expect(asked).rejects.toMatchObject({ kind: "unavailable" });
  });

  test("authorize() gives a no that is said twice", async () => {
    const { reviewer } = start([{ status: { allowed: false, denied: true } }]);
    const access = { path: "/metrics", verb: "get" };
    expect(await reviewer.authorize(USER, access, signal)).toBe(false);
  });

  test("counts what is refused by its status", async () => {
    const refusal = new KubeError("forbidden", "no", { code: 403 });
    const { reviewer, metrics, sent } = start([refusal]);
    await expect(reviewer.authenticate("t", signal)).rejects.toBe(refusal);
    expect(sent).toHaveLength(1);
    expect(metrics.render()).toContain('apiserver_delegated_authn_request_total{code="403"} 1');
  });
});
