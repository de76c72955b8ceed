/**
 * A tier of a VPC that gets another ACL list while a Service has an item in the first one.
 * @module
 */
import { expect, test } from "bun:test";
import { toAclItem, toAclList } from "../../../lib/simulator/cloudstack/world/vpcs.ts";
import { OddStage } from "./stage.ts";

const PASS_MS = 660_000;

test("a full pass lets clients in by the new list, and removes the item from the old one", async () => {
  await using odd = new OddStage("tier");
  const { clock, cloud, site } = odd.stage;
  const { state } = cloud;
  odd.create("odd");
  await odd.until("it has no address", () => odd.readAddress("odd") !== undefined);
  const listUses = (): string[] =>
    [...state.aclItems.values()].filter(({ reason }) => reason).map(({ listId }) => listId);
  const tier = state.networks.get(site.networkId);
  const vpc = state.vpcs.get(tier?.vpcId ?? "");
  if (tier === undefined || vpc === undefined) throw new Error("There is no tier");
  expect(listUses()).toEqual([tier.aclId ?? ""]);
  const list = toAclList("other", vpc);
  const deny = toAclItem({ list, number: 100, protocol: "all", action: "Deny" });
  state.aclLists.set(list.id, list);
  state.aclItems.set(deny.id, deny);
  tier.aclId = list.id;
  await clock.advance(PASS_MS);
  expect(listUses()).toEqual([list.id]);
});
