import { describe, expect, test } from "bun:test";
import { Faults } from "../../../lib/simulator/xenorchestra/faults.ts";
import type { Outcome } from "../../../lib/simulator/loopback.ts";
import { Front } from "../../../lib/simulator/xenorchestra/front.ts";
import { RequestCounter } from "../../../lib/simulator/xenorchestra/requests.ts";
import { ManualClock } from "../../support/manual_clock.ts";

function createFront(): { front: Front; faults: Faults; clock: ManualClock; seen: Request[] } {
  const clock = new ManualClock();
  const faults = new Faults();
  const seen: Request[] = [];
  const answer = (request: Request): Promise<Response> => {
    seen.push(request);
    return Promise.resolve(new Response("right"));
  };
  const { signal } = new AbortController();
  const front = new Front({ answer, faults, requests: new RequestCounter(), clock, signal });
  return { front, faults, clock, seen };
}

const toRequest = (headers = {}): Request => new Request("http://memory/rest/v0/vms", { headers });

async function describeOutcome(outcome: Outcome): Promise<string> {
  if (outcome.kind !== "reply") return outcome.kind;
  const { response, isHalf } = outcome;
  return `${response.status} ${isHalf ? "half " : ""}${await response.text()}`;
}

describe("Front", () => {
  test.each([
    ["no fault", undefined, "200 right"],
    ["hang", { kind: "hang" }, "hang"],
    ["reset", { kind: "reset" }, "reset"],
    ["halfBody", { kind: "halfBody" }, "200 half right"],
    ["resetAfter", { kind: "resetAfter" }, "reset"],
    ["hangAfter", { kind: "hangAfter" }, "hang"],
    ["repeat", { kind: "repeat" }, "200 right"],
    ["json", { kind: "json", body: [] }, "200 []"],
  ] as const)("Front.answer() says what %s makes of a request", async (_name, fault, expected) => {
    const { front, faults } = createFront();
    if (fault) faults.set(fault);

    expect(await describeOutcome(await front.answer(toRequest()))).toBe(expected);
  });

  test.each([
    ["reset", 0],
    ["resetAfter", 1],
    ["hangAfter", 1],
    ["repeat", 2],
  ] as const)(
    "Front.answer() carries a request with fault %s out %i times",
    async (kind, times) => {
      const { front, faults, seen } = createFront();
      faults.set({ kind });
      const body = JSON.stringify({ name: "vino-1" });
      await front.answer(new Request("http://memory/rest/v0/vms", { method: "POST", body }));

      expect(seen).toHaveLength(times);
      for (const request of seen) expect(await request.text()).toBe(body);
    },
  );

  test("Front.answer() is late by a delay, and says so meanwhile", async () => {
    const { front, faults, clock } = createFront();
    faults.set({ kind: "delay", ms: 5_000 });
    const told: boolean[] = [];
    let isAnswered = false;
    const answer = front.answer(toRequest(), (isWaiting) => told.push(isWaiting));
    void answer.then(() => (isAnswered = true));

    await clock.advance(4_999);
    expect([isAnswered, told]).toEqual([false, [true]]);

    await clock.advance(1);
    expect([isAnswered, told]).toEqual([true, [true, false]]);
  });

  test("Front.answer() lets no client call itself a user who may see nothing", async () => {
    const { front, faults, seen } = createFront();
    await front.answer(toRequest({ "x-simulator-non-admin": "true" }));
    faults.set({ kind: "nonAdmin" });
    await front.answer(toRequest());

    const header = "x-simulator-non-admin";
    expect(seen.map(({ headers }) => headers.get(header))).toEqual([null, "true"]);
  });
});
