/**
 * What is written to BareMetalHosts, and what is remembered until the watch shows it.
 * @module
 */
import { beforeEach, describe, expect, test } from "bun:test";
import { HostWriter } from "../../../../../lib/controllers/vino/hosts/publish/host_writer.ts";
import { KubeError, type KubeErrorKind } from "../../../../../lib/kube/api/errors.ts";
import type { BareMetalHost } from "../../../../../lib/kube/kinds/bare_metal_host.ts";
import { ManualClock } from "../../../../support/manual_clock.ts";
import { toOwnerPrefix } from "../../../../../lib/cloud/capabilities/machines.ts";
import { OWNER, toWanted } from "../../../../support/vino/wanted_hosts.ts";

const KEY = "metal/edge-worker-0";
const { signal } = new AbortController();

/** What the API server answers, and what it was asked. */
let answers: (object | KubeErrorKind)[];
let asked: unknown[][];
let clock: ManualClock;
let writer: HostWriter;

function answer(...what: unknown[]): Promise<never> {
  asked.push(what);
  const next = answers.shift() ?? {};
  if (typeof next === "string") return Promise.reject(new KubeError(next, `it is ${next}`));
  return Promise.resolve(next as never);
}

beforeEach(() => {
  answers = [];
  asked = [];
  clock = new ManualClock();
  const client = {
    read: (_kind: unknown, path: unknown) => answer("read", path),
    create: (_kind: unknown, path: unknown) => answer("create", path),
    patch: (_kind: unknown, path: unknown, patch: unknown) => answer("patch", path, patch),
    delete: (_kind: unknown, path: unknown, options: unknown) => answer("delete", path, options),
  };
  writer = new HostWriter(client, clock);
});

function toHost(
  resourceVersion: string,
  more: Partial<BareMetalHost["metadata"]> = {},
): BareMetalHost {
  const { namespace } = OWNER;
  return { metadata: { namespace, name: "edge-worker-0", uid: "u1", resourceVersion, ...more } };
}

describe("create()", () => {
  test("knows for 30 s that the watch may not show the host", async () => {
    answers = [toHost("1")];
    expect(await writer.create(OWNER, toWanted(), signal)).toEqual({ kind: "done", uid: "u1" });
    expect(writer.isUnseen(KEY, undefined)).toBe(true);
    await clock.advance(29_000);
    expect(writer.isUnseen(KEY, undefined)).toBe(true);
    await clock.advance(2_000);
    expect(writer.isUnseen(KEY, undefined)).toBe(false);
  });

  test("knows that a host was deleted after the watch showed it", async () => {
    answers = [toHost("1")];
    await writer.create(OWNER, toWanted(), signal);
    expect(writer.isUnseen(KEY, toHost("1"))).toBe(false);
    expect(writer.isUnseen(KEY, undefined)).toBe(false);
  });

  type Case = readonly [live: object | KubeErrorKind, kind: string];
  const cases: readonly Case[] = [
    [toHost("1", { labels: { "landfall.dev/vino-uid": OWNER.uid } }), "overtaken"],
    [toHost("1", { labels: {} }), "taken"],
    ["notFound", "overtaken"],
  ];
  test.each(cases)("of a name that exists reads what has it: %j", async (live, kind) => {
    answers = ["alreadyExists", live];
    expect<string>((await writer.create(OWNER, toWanted(), signal)).kind).toBe(kind);
  });
});

describe("readForProof()", () => {
  const OF_VINO = { "landfall.dev/machine": `${toOwnerPrefix(OWNER)}worker-0` };
  type Case = readonly [what: string, live: object | KubeErrorKind, isGone: boolean];
  const cases: readonly Case[] = [
    ["that does not exist", "notFound", true],
    ["of something else", toHost("1", { labels: {} }), true],
    ["of the Vino without its label", toHost("1", { labels: {}, annotations: OF_VINO }), false],
    ["of the Vino", toHost("1", { labels: { "landfall.dev/vino-uid": OWNER.uid } }), false],
  ];
  test.each(cases)("of a host %s proves that it is gone or not", async (_what, live, isGone) => {
    answers = [live];
    await writer.readForProof(OWNER, "edge-worker-0", signal);
    expect(writer.isProvenGone(OWNER, "edge-worker-0")).toBe(isGone);
    expect(writer.isProvenGone(OWNER, "edge-worker-1")).toBe(false);
  });

  test("proves nothing after the host was made, or the Vino forgotten", async () => {
    answers = ["notFound", toHost("1"), "notFound"];
    await writer.readForProof(OWNER, "edge-worker-0", signal);
    await writer.create(OWNER, toWanted(), signal);
    expect(writer.isProvenGone(OWNER, "edge-worker-0")).toBe(false);
    await writer.readForProof(OWNER, "edge-worker-0", signal);
    writer.forgetVino(OWNER.uid);
    expect(writer.isProvenGone(OWNER, "edge-worker-0")).toBe(false);
  });

  test.each<[object | KubeErrorKind]>([["unavailable"], [{ kind: "Status" }]])(
    "proves nothing by the answer %j",
    async (live) => {
      answers = [live];
      await expect(writer.readForProof(OWNER, "edge-worker-0", signal)).rejects.toThrow();
      expect(writer.isProvenGone(OWNER, "edge-worker-0")).toBe(false);
    },
  );
});

describe("patch()", () => {
  test("is for the version that the plan saw, and for nothing else", async () => {
    answers = [toHost("2")];
    const patch = { labels: { a: "b", c: null }, record: new Set<string>() };
    expect((await writer.patch(toHost("1"), toWanted(), patch, signal)).kind).toBe("done");
    expect(asked).toEqual([
      [
        "patch",
        { namespace: "metal", name: "edge-worker-0" },
        {
          type: "merge",
          body: {
            metadata: {
              resourceVersion: "1",
              labels: { a: "b", c: null },
              annotations: { "landfall.dev/labels-from-vino": null },
            },
          },
        },
      ],
    ]);
  });

  test("makes the version before it outdated", async () => {
    answers = [toHost("2")];
    await writer.patch(toHost("1"), toWanted(), { labels: { a: "b" } }, signal);
    expect([toHost("1"), toHost("2")].map((host) => writer.isOutdated(host))).toEqual([
      true,
      false,
    ]);
  });

  test("is not sent for a host without a version", async () => {
    const { resourceVersion: _none, ...metadata } = toHost("1").metadata;
    const result = await writer.patch({ metadata }, toWanted(), { labels: {} }, signal);
    expect([result.kind, asked]).toEqual(["overtaken", []]);
  });
});

describe("delete()", () => {
  test("is for the host and the version that the plan saw", async () => {
    await writer.delete(toHost("7"), signal);
    const path = { namespace: "metal", name: "edge-worker-0" };
    expect(asked).toEqual([["delete", path, { uid: "u1", resourceVersion: "7" }]]);
  });

  test("makes the host outdated until the watch shows the deletion, or another host", async () => {
    await writer.delete(toHost("7"), signal);
    expect(writer.isOutdated(toHost("7"))).toBe(true);
    const deletionTimestamp = "2026-01-01T00:00:00Z";
    expect(writer.isOutdated(toHost("8", { deletionTimestamp }))).toBe(false);
    await writer.delete(toHost("8"), signal);
    expect(writer.isOutdated(toHost("9", { uid: "u2" }))).toBe(false);
    expect(writer.isOutdated(toHost("8"))).toBe(false);
  });

  test("of a host that is gone is done", async () => {
    answers = ["notFound"];
    expect((await writer.delete(toHost("7"), signal)).kind).toBe("done");
  });
});

type ErrorCase = readonly [kind: KubeErrorKind, result: string];
const errorCases: readonly ErrorCase[] = [
  ["conflict", "overtaken"],
  ["forbidden", "refused"],
  ["invalid", "refused"],
];
test.each(errorCases)("an answer %s means that the host is %s", async (kind, result) => {
  answers = [kind, kind, kind];
  const results = [
    await writer.create(OWNER, toWanted(), signal),
    await writer.patch(toHost("1"), toWanted(), { labels: { a: "b" } }, signal),
    await writer.delete(toHost("1"), signal),
  ];
  expect<string[]>(results.map((one) => one.kind)).toEqual([result, result, result]);
});

test.each<KubeErrorKind>(["unavailable", "throttled", "unauthorized"])(
  "an answer %s is an error: another try may help",
  async (kind) => {
    answers = [kind];
    await expect(writer.delete(toHost("1"), signal)).rejects.toThrow(kind);
  },
);
