import { expect, test } from "bun:test";
import {
  createTagFilter,
  toTagReply,
  toTagsReply,
} from "../../../../lib/simulator/cloudstack/commands/tag_reply.ts";
import { createDemoWorld } from "../../../../lib/simulator/cloudstack/mod.ts";
import { Parameters } from "../../../../lib/simulator/cloudstack/parameters.ts";
import { CloudStackState } from "../../../../lib/simulator/cloudstack/world/state.ts";

const story = createDemoWorld();
const toTag = (resourceId: string, key: string, value: string) => ({
  key,
  value,
  resourceType: "PublicIpAddress",
  resourceId,
  accountId: story.accountIds.acme,
});
const TAG = toTag("ip-1", "Cluster", "c1");
const state = new CloudStackState({
  ...story.world,
  tags: [TAG, toTag("ip-1", "service", "s1"), toTag("ip-2", "cluster", "c1")],
});

test("toTagsReply() shows each tag with its object and owner", () => {
  expect(toTagsReply(state, "ip-1")).toMatchObject([toTagReply(state, TAG), { value: "s1" }]);
  expect(toTagReply(state, TAG)).toEqual({
    key: "Cluster",
    value: "c1",
    resourcetype: "PublicIpAddress",
    resourceid: "ip-1",
    account: "acme",
    domainid: expect.any(String),
    domain: "ROOT",
  });
  expect(toTagsReply(state, "ip-3")).toEqual([]);
});

test.each<[Record<string, string>, string[]]>([
  [{}, ["ip-1", "ip-2", "ip-3"]],
  [{ "tags[0].key": "cluster", "tags[0].value": "C1" }, ["ip-1", "ip-2"]],
  [{ "tags[0].key": "cluster" }, []],
  [{ "tags[0].key": "cluster", "tags[0].value": "c2" }, []],
  [{ "tags[0].key": "cluster", "tags[1].value": "c1" }, []],
  [
    {
      "tags[0].key": "service",
      "tags[0].value": "s1",
      "tags[1].key": "cluster",
      "tags[1].value": "c1",
    },
    ["ip-1", "ip-2"],
  ],
])("createTagFilter() with %j keeps %j: one tag of several is enough", (fields, ids) => {
  const isTagged = createTagFilter(new Parameters(new Map(Object.entries(fields))), state);
  expect(["ip-1", "ip-2", "ip-3"].filter(isTagged)).toEqual(ids);
});
