/**
 * Which VMs are behind which rules, and what the answer costs.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { CloudError } from "../../../../../lib/cloud/errors.ts";
import { Limiter } from "../../../../../lib/core/limiter.ts";
import {
  isAboutOne,
  readMemberships,
} from "../../../../../lib/providers/cloudstack/load_balancers/reading/memberships.ts";
import type { BackendVm } from "../../../../../lib/providers/cloudstack/load_balancers/view.ts";
import { ApiError } from "../../../../../lib/providers/cloudstack/session/errors.ts";
import { byId } from "../objects.ts";

const signal = new AbortController().signal;

interface World {
  /** Members by rule; `undefined` for an answer that cannot be read. */
  readonly members: Readonly<Record<string, readonly string[] | undefined>>;
  readonly vms?: readonly BackendVm[];
  /** Errors by the ID of what is asked about. */
  readonly errors?: Readonly<Record<string, Error>>;
  readonly ruleCount?: number;
}

function toVm(id: string, networkId: string = "net", isGone: boolean = false): BackendVm {
  return {
    id,
    isGone,
    nics: [
      { networkId: "other", ips: [] },
      { networkId, ips: [] },
    ],
  };
}

function toRefusal(code: number, text: string = "no"): ApiError {
  return new ApiError({ code, text }, { command: "list", secrets: [] });
}

/** Reads all members of a world, and counts questions. */
async function read({ members, vms, errors = {}, ruleCount }: World) {
  const asked: string[] = [];
  const ask = (id: string, ids: readonly string[]): Promise<ReadonlySet<string>> => {
    asked.push(id);
    return errors[id] === undefined ? Promise.resolve(new Set(ids)) : Promise.reject(errors[id]);
  };
  const rules = Object.keys(members);
  const api = {
    listMembers: async (ruleId: string) => {
      const found = await ask(ruleId, members[ruleId] ?? []);
      return members[ruleId] && found;
    },
    listRulesOf: (vmId: string) =>
      ask(vmId, ["foreign", ...rules.filter((ruleId) => members[ruleId]?.includes(vmId))]),
  };
  const question = {
    rules: new Map(rules.map((id) => [id, { networkId: "net" }])),
    ruleCount: ruleCount ?? rules.length,
    vms: vms && byId(...vms),
    projectId: undefined,
    limiter: new Limiter(1),
  };
  const found = await readMemberships(api, question, signal);
  return { found: Object.fromEntries([...found].map(([id, ids]) => [id, [...ids]])), asked };
}

const MEMBERS = { r1: ["a"], r2: ["a", "b"], r3: [] };

describe("readMemberships()", () => {
  test.each<[string, Omit<World, "members">, string[]]>([
    ["rule by rule without VMs", {}, ["r1", "r2", "r3"]],
    [
      "VM by VM if these are fewer",
      { vms: [toVm("a"), toVm("b"), toVm("c", "elsewhere"), toVm("d", "net", true)] },
      ["a", "b"],
    ],
    [
      "rule by rule if there are as many VMs",
      { vms: ["a", "b", "c"].map((id) => toVm(id)) },
      ["r1", "r2", "r3"],
    ],
    [
      "rule by rule if the answer for a VM takes several pages",
      { vms: [toVm("a"), toVm("b")], ruleCount: 501 },
      ["r1", "r2", "r3"],
    ],
  ])("reads %s", async (_what, world, expected) => {
    const { found, asked } = await read({ members: MEMBERS, ...world });
    expect(found).toEqual(MEMBERS);
    expect(asked).toEqual(expected);
  });

  test("asks nothing without rules", async () => {
    const { found, asked } = await read({ members: {}, vms: [toVm("a")] });
    expect([found, asked]).toEqual([{}, []]);
  });

  test("does not know the members of a rule about which CloudStack refuses to answer", async () => {
    const { found } = await read({ members: MEMBERS, errors: { r1: toRefusal(530) } });
    expect(found).toEqual({ r2: ["a", "b"], r3: [] });
  });

  test("does not know the members of a rule if the answer cannot be read", async () => {
    expect((await read({ members: { ...MEMBERS, r2: undefined } })).found).toEqual({
      r1: ["a"],
      r3: [],
    });
  });

  test.each([
    ["the role lacks the command", toRefusal(432)],
    ["there are too many requests", toRefusal(429)],
    ["the server does not answer", new CloudError("unreachable", "no answer")],
  ])("rejects when %s", async (_what, error) => {
    await expect(read({ members: MEMBERS, errors: { r2: error } })).rejects.toBe(error);
  });

  test("a VM that is gone since is behind no rule; any other refusal says nothing", async () => {
    const vms = [toVm("a"), toVm("b")];
    const gone = toRefusal(
      431,
      "Invalid parameter virtualmachineid value=b due to incorrect long value format, or entity does not exist",
    );
    const { found } = await read({ members: MEMBERS, vms, errors: { b: gone } });
    expect(found).toEqual({ r1: ["a"], r2: ["a"], r3: [] });
    const refusal = toRefusal(530);
    const refused = read({ members: MEMBERS, vms, errors: { b: refusal } });
    await expect(refused).rejects.toBe(refusal);
  });
});

test.each([
  [toRefusal(431), true],
  [toRefusal(530), true],
  [toRefusal(531), true],
  [toRefusal(401), false],
  [toRefusal(432), false],
  [toRefusal(429), false],
  [toRefusal(503), false],
  [new CloudError("unreachable", "no answer"), false],
])("isAboutOne() of %s is %p", (error, expected) => {
  expect(isAboutOne(error)).toBe(expected);
});
