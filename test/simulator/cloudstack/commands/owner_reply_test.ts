import { expect, test } from "bun:test";
import { toOwner } from "../../../../lib/simulator/cloudstack/commands/owner_reply.ts";
import { createDemoWorld } from "../../../../lib/simulator/cloudstack/mod.ts";
import { CloudStackState } from "../../../../lib/simulator/cloudstack/world/state.ts";

const story = createDemoWorld();
const state = new CloudStackState(story.world);

test("toOwner() is an account or a project, and nothing for what has no owner", () => {
  const accountId = state.projects.get(story.projectId)?.accountId ?? "";
  expect(toOwner(story.accountIds.acme, state)).toMatchObject({ account: "acme", domain: "ROOT" });
  expect(toOwner(accountId, state)).toEqual({
    projectid: story.projectId,
    project: "platform",
    domainid: state.accounts.get(accountId)?.domainId,
    domain: "ROOT",
  });
  expect(toOwner("", state)).toEqual({});
});
