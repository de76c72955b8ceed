import { describe, expect, test } from "bun:test";
import {
  type RequestPlan,
  planRequests,
  toAnswer,
} from "../../../../../lib/controllers/sipcluster/services/jump_host/reboot_requests.ts";

const NOW_MS = 1_800_000_000_000;
const NOW_S = NOW_MS / 1_000;

const toId = (at: number): string => `00000000-0000-4000-8000-${String(at).padStart(12, "0")}`;
const toRequest = (host: string, ageS = 0): string => JSON.stringify({ host, time: NOW_S - ageS });
const toOldAnswer = (ageS: number): string =>
  JSON.stringify({ state: "done", message: "m", time: NOW_S - ageS });

/** Plans these keys, and returns the changes as an object. */
function plan(
  data: object,
): Omit<RequestPlan, "changes"> & { changes: Record<string, string | null> } {
  const { changes, ...rest } = planRequests(data, NOW_MS);
  return { ...rest, changes: Object.fromEntries(changes) };
}

/** Does what a plan says. */
function apply(data: object, changes: RequestPlan["changes"]): Record<string, unknown> {
  const next = new Map<string, unknown>(Object.entries(data));
  for (const [key, value] of changes) {
    if (value === null) next.delete(key);
    else next.set(key, value);
  }
  return Object.fromEntries(next);
}

describe("planRequests()", () => {
  test("plans nothing for an empty ConfigMap", () => {
    expect(plan({})).toEqual({ changes: {}, pending: [] });
  });

  test("returns requests, the oldest first", () => {
    const data = {
      [`request.${toId(1)}`]: toRequest("hosts/b", 1),
      [`request.${toId(2)}`]: toRequest("hosts/a", 9),
      [`request.${toId(0)}`]: toRequest("hosts/c", 1),
    };
    expect(plan(data)).toEqual({
      changes: {},
      pending: [
        { id: toId(2), host: "hosts/a" },
        { id: toId(0), host: "hosts/c" },
        { id: toId(1), host: "hosts/b" },
      ],
    });
  });

  test("does not do again what has an answer", () => {
    const data = {
      [`request.${toId(1)}`]: toRequest("hosts/a"),
      [`answer.${toId(1)}`]: toOldAnswer(5),
    };
    expect(plan(data)).toEqual({
      changes: { [`request.${toId(1)}`]: null },
      pending: [],
      recheckMs: 595_000,
    });
  });

  test("keeps an answer for ten minutes, and then removes it", () => {
    const key = `answer.${toId(1)}`;
    expect(plan({ [key]: toOldAnswer(600) })).toEqual({ changes: {}, pending: [], recheckMs: 0 });
    expect(plan({ [key]: toOldAnswer(601) })).toEqual({ changes: { [key]: null }, pending: [] });
    expect(plan({ [key]: toOldAnswer(-601) }).changes).toEqual({ [key]: null });
  });

  test("keeps the 20 newest answers", () => {
    const answers = Array.from({ length: 25 }, (_, at) => [`answer.${toId(at)}`, toOldAnswer(at)]);
    const removed = Object.keys(plan(Object.fromEntries(answers)).changes);
    expect(removed).toEqual([20, 21, 22, 23, 24].map((at) => `answer.${toId(at)}`));
  });

  const bad: Readonly<Record<string, unknown>> = {
    "no JSON": "reboot a",
    "no object": "7",
    null: "null",
    "a list": "[]",
    "no text": 7,
    "no host": JSON.stringify({ time: NOW_S }),
    "a host without a namespace": toRequest("a"),
    "a host with two slashes": toRequest("hosts/a/status"),
    "a path": toRequest("../nodes"),
    "a newline in the host": toRequest("hosts/a\nb"),
    "capitals in the host": toRequest("hosts/A"),
    "a host that is a list": JSON.stringify({ host: ["hosts/a"], time: NOW_S }),
    "a host that is too long": toRequest(`hosts/${"a".repeat(900)}`),
    "no time": JSON.stringify({ host: "hosts/a" }),
    "a time that is text": JSON.stringify({ host: "hosts/a", time: String(NOW_S) }),
    "a huge text": JSON.stringify({ host: "hosts/a", time: NOW_S, more: "x".repeat(100_000) }),
  };
  for (const [what, value] of Object.entries(bad)) {
    test(`refuses a request with ${what}, and repeats nothing of it`, () => {
      const { changes, pending } = plan({ [`request.${toId(1)}`]: value });
      expect(pending).toEqual([]);
      expect(changes).toEqual({
        [`request.${toId(1)}`]: null,
        [`answer.${toId(1)}`]: JSON.stringify({
          state: "refused",
          message: "Landfall refused: it cannot read the request",
          time: NOW_S,
        }),
      });
    });
  }

  for (const ageS of [301, -301]) {
    test(`refuses a request that is ${ageS} s old`, () => {
      const { changes, pending } = plan({ [`request.${toId(1)}`]: toRequest("hosts/a", ageS) });
      expect(pending).toEqual([]);
      expect(changes[`answer.${toId(1)}`]).toContain("too old");
    });
  }

  test("removes everything that is neither request nor answer", () => {
    const junk: Record<string, unknown> = {
      other: "x",
      "request.1": toRequest("hosts/a"),
      [`request.${toId(1)}.more`]: toRequest("hosts/a"),
      [`answer.${toId(1)}`]: "no answer",
      [`answer.${toId(2)}`]: JSON.stringify({ time: "now" }),
    };
    // A key that JSON.parse makes, and an assignment would not.
    const data = { ...junk, ...(JSON.parse('{"__proto__":"x"}') as object) };
    const { changes, pending } = plan(data);
    expect(pending).toEqual([]);
    expect(Object.entries(changes).toSorted()).toEqual(
      [...Object.keys(junk), "__proto__"].toSorted().map((key) => [key, null]),
    );
  });

  test("works on 20 requests at once, and answers 20 more", () => {
    const data = Object.fromEntries(
      Array.from({ length: 60 }, (_, at) => [`request.${toId(at)}`, toRequest("hosts/a")]),
    );
    const { changes, pending } = plan(data);
    expect(pending.map(({ id }) => id)).toEqual(Array.from({ length: 20 }, (_, at) => toId(at)));
    const kept = Object.entries(changes).filter(([, value]) => value !== null);
    expect(kept).toHaveLength(20);
    expect(kept[0]?.[1]).toContain("too many requests");
    expect(Object.keys(changes).filter((key) => key.startsWith("request."))).toHaveLength(40);
  });

  test("clears any content in a few small steps, and comes to rest", () => {
    let data: Record<string, unknown> = Object.fromEntries([
      ...Array.from({ length: 2_500 }, (_, at) => [`junk-${at}`, "x"]),
      ...Array.from({ length: 2_500 }, (_, at) => [`request.${toId(at)}`, "junk"]),
    ]);
    let passes = 0;
    for (;;) {
      const { changes } = planRequests(data, NOW_MS);
      if (changes.size === 0) break;
      expect(changes.size).toBeLessThanOrEqual(1_000);
      data = apply(data, changes);
      passes += 1;
    }
    expect(passes).toBeLessThan(10);
    expect(Object.keys(data).length).toBeLessThanOrEqual(20);
  });
});

test("toAnswer() removes the request, and says in one line what became of it", () => {
  expect(new Map(toAnswer(toId(1), { isDone: true, message: "yes" }, NOW_MS))).toEqual(
    new Map([
      [`request.${toId(1)}`, null],
      [`answer.${toId(1)}`, JSON.stringify({ state: "done", message: "yes", time: NOW_S })],
    ]),
  );
});
