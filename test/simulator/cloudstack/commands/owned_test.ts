import { describe, expect, test } from "bun:test";
import { toAccount, toDomain } from "../../../../lib/simulator/cloudstack/access/accounts.ts";
import type { Call } from "../../../../lib/simulator/cloudstack/commands/call.ts";
import {
  checkOwner,
  failJob,
  mayUse,
  needOwned,
} from "../../../../lib/simulator/cloudstack/commands/owned.ts";
import { createDemoWorld } from "../../../../lib/simulator/cloudstack/mod.ts";
import { Parameters } from "../../../../lib/simulator/cloudstack/parameters.ts";
import { toSettings } from "../../../../lib/simulator/cloudstack/settings.ts";
import { CloudStackState } from "../../../../lib/simulator/cloudstack/world/state.ts";

const story = createDemoWorld();
const state = new CloudStackState(story.world);
const { acme, ops } = story.accountIds;
const project = state.projects.get(story.projectId)?.accountId ?? "";

function toCall(username: string, id: string): Call {
  const user = [...state.users.values()].find((one) => one.username === username);
  const account = state.accounts.get(user?.accountId ?? "");
  if (user === undefined || account === undefined) throw new RangeError(username);
  const parameters = new Parameters(new Map(Object.entries({ command: "deleteIt", id })));
  const rest = { settings: toSettings(), nowMs: 0, jobs: new Map() };
  return { caller: { user, account }, parameters, state, ...rest };
}

describe("who may change an object", () => {
  test.each([
    ["kubeadmin", [true, false, true]],
    ["ops", [false, true, false]],
    ["admin", [true, true, true]],
  ])("mayUse() of %s for acme, ops and a project of acme", (username, expected) => {
    const call = toCall(username, "");
    expect([acme, ops, project].map((owner) => mayUse(call, owner))).toEqual(expected);
  });

  test("needOwned() refuses what is unknown, somebody else's or nobody's", () => {
    const { id: foreign } = toAccount({ name: "other", domain: toDomain("ROOT") });
    const objects = new Map([
      ["own", { id: "own", accountId: acme }],
      ["foreign", { id: "foreign", accountId: foreign }],
      ["free", { id: "free" }],
    ]);
    const find = (id: string): unknown => needOwned(toCall("kubeadmin", id), "id", objects);
    expect(find("own")).toEqual({ id: "own", accountId: acme });
    expect(() => find("none")).toThrow("entity does not exist");
    expect(() => find("")).toThrow("missing parameter id");
    for (const id of ["foreign", "free"]) expect(() => find(id)).toThrow("permission");
  });

  test("failJob() turns the refusal of a command into the failure of a job", () => {
    expect(() => failJob(() => checkOwner(toCall("ops", ""), acme, "web"))).toThrow(
      expect.objectContaining({ code: 530, message: expect.stringMatching(/web$/) }),
    );
    const unknown = (): unknown => needOwned(toCall("ops", "none"), "id", new Map());
    expect(() => failJob(unknown)).toThrow(expect.objectContaining({ code: 431 }));
  });

  test("checkOwner() names the object", () => {
    expect(() => checkOwner(toCall("ops", ""), acme, "web")).toThrow(/acme|web$/);
    expect(() => checkOwner(toCall("kubeadmin", ""), acme, "web")).not.toThrow();
  });
});
