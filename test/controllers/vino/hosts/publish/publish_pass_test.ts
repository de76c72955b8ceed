import { describe, expect, test } from "bun:test";
import type { WriteResult } from "../../../../../lib/controllers/vino/hosts/publish/host_writer.ts";
import {
  PublishPass,
  toOutcome,
} from "../../../../../lib/controllers/vino/hosts/publish/publish_pass.ts";
import type { HostPlan } from "../../../../../lib/controllers/vino/hosts/plan.ts";

const PLAN: HostPlan = {
  name: "h",
  state: "Published",
  notices: ["n"],
  change: { kind: "create" },
  hasSecrets: true,
};

test("toOutcome() leaves out what only the writer needs", () => {
  expect(toOutcome(PLAN)).toEqual({ name: "h", state: "Published", notices: ["n"] });
});

describe("PublishPass", () => {
  type Case = readonly [result: WriteResult | undefined, state: string, againMs: number];
  const cases: readonly Case[] = [
    [undefined, "Published", 300_000],
    [{ kind: "done", uid: "u" }, "Published", 300_000],
    [{ kind: "overtaken" }, "Published", 1_000],
    [{ kind: "held", pauseMs: 7_000 }, "Published", 7_000],
    [{ kind: "taken", why: "x" }, "NameTaken", 60_000],
    [{ kind: "refused", why: "x" }, "Refused", 60_000],
  ];
  test.each(cases)("after %j", (result, state, againMs) => {
    const pass = new PublishPass();
    const outcome = pass.toOutcome(PLAN, result);
    expect<unknown>([outcome.state, pass.againMs]).toEqual([state, againMs]);
  });

  test("looks again at a name that is taken", () => {
    const pass = new PublishPass();
    pass.toOutcome({ ...PLAN, state: "NameTaken" }, undefined);
    expect(pass.againMs).toBe(60_000);
  });

  test("looks again at credentials that cannot be used, and says why", () => {
    const pass = new PublishPass();
    expect(pass.withBmcProblem(toOutcome(PLAN), {})).toEqual(toOutcome(PLAN));
    expect(pass.againMs).toBe(300_000);
    expect(pass.withBmcProblem(toOutcome(PLAN), { bmcProblem: "no Secret" })).toEqual({
      ...toOutcome(PLAN),
      notices: ["n", "no Secret"],
      bmcProblem: "no Secret",
    });
    expect(pass.againMs).toBe(60_000);
  });

  test("makes at most 100 hosts", () => {
    const pass = new PublishPass();
    const allowed = Array.from({ length: 120 }, () => pass.mayMake());
    expect(allowed.filter(Boolean)).toHaveLength(100);
  });
});
