/**
 * Which rules are asked about their stickiness policies.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { CloudError } from "../../../../../lib/cloud/errors.ts";
import { Limiter } from "../../../../../lib/core/limiter.ts";
import {
  type PolicyQuestion,
  readPolicies,
} from "../../../../../lib/providers/cloudstack/load_balancers/reading/policies.ts";
import type { StickinessPolicy } from "../../../../../lib/providers/cloudstack/load_balancers/view.ts";
import { ApiError } from "../../../../../lib/providers/cloudstack/session/errors.ts";
import { toPolicy } from "../objects.ts";

const signal = new AbortController().signal;
const POLICY = toPolicy("policy");

/** Reads from a server where each rule has a policy, unless it refuses. */
async function read(
  question: Partial<PolicyQuestion>,
  errors: Record<string, Error | "unreadable"> = {},
) {
  const asked: string[] = [];
  const api = {
    listPolicies: (ruleId: string): Promise<StickinessPolicy[] | undefined> => {
      asked.push(ruleId);
      const error = errors[ruleId];
      if (error === "unreadable") return Promise.resolve(undefined);
      return error === undefined ? Promise.resolve([POLICY]) : Promise.reject(error);
    },
  };
  const nothing = { rules: new Map(), known: new Map(), limiter: new Limiter(4) };
  const found = await readPolicies(api, { ...nothing, ...question }, signal);
  return { found: Object.fromEntries(found), asked };
}

function toRefusal(code: number): ApiError {
  return new ApiError({ code, text: "no" }, { command: "list", secrets: [] });
}

const RULES = new Map([
  ["wants", true],
  ["plain", false],
]);

describe("readPolicies()", () => {
  test("asks once about every rule: an earlier process may have left a policy", async () => {
    const { found, asked } = await read({ rules: RULES });
    expect(asked).toEqual(["wants", "plain"]);
    expect(found).toEqual({ wants: [POLICY], plain: [POLICY] });
  });

  test("asks again about a rule whose Service wants a policy, or that has one", async () => {
    const known = new Map([
      ["wants", []],
      ["plain", []],
    ]);
    const { found, asked } = await read({ rules: RULES, known });
    expect([found, asked]).toEqual([{ wants: [POLICY], plain: [] }, ["wants"]]);
    const left = await read({ rules: RULES, known: new Map([["plain", [POLICY]]]) });
    expect(left.asked).toEqual(["wants", "plain"]);
  });

  test("forgets rules that are not there any more", async () => {
    const { found } = await read({ known: new Map([["plain", [POLICY]]]) });
    expect(found).toEqual({});
  });

  test.each([
    ["refuses to answer", toRefusal(531)],
    ["gives an answer that cannot be read", "unreadable" as const],
  ])("does not know the policies of a rule about which CloudStack %s", async (_what, error) => {
    const { found } = await read({ rules: RULES }, { wants: error });
    expect(found).toEqual({ plain: [POLICY] });
  });

  test.each([401, 432])("knows none, and stops asking, after a %i for all", async (code) => {
    const rules = new Map(Array.from({ length: 50 }, (_, at) => [`rule-${at}`, false]));
    const errors = Object.fromEntries([...rules.keys()].map((id) => [id, toRefusal(code)]));
    const { found, asked } = await read({ rules }, errors);
    expect(found).toEqual({});
    expect(asked.length).toBeLessThan(10);
  });

  test.each([toRefusal(429), toRefusal(503), new CloudError("unreachable", "no answer")])(
    "rejects with %s",
    async (error) => {
      await expect(read({ rules: RULES }, { plain: error })).rejects.toBe(error);
    },
  );
});
