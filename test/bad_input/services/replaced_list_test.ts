/**
 * A tier of a VPC whose ACL people change, before and while it has Services.
 * @module
 */
import { describe, expect, test } from "bun:test";
import type { Network } from "../../../lib/simulator/cloudstack/world/records.ts";
import {
  type AclList,
  DEFAULT_ALLOW,
  DEFAULT_DENY,
  toAclItem,
  toAclList,
} from "../../../lib/simulator/cloudstack/world/vpcs.ts";
import { OddStage } from "./stage.ts";

const PASS_MS = 660_000;
/** Longer than a new Service needs. */
const MADE_MS = 20_000;
/** Longer than the first look after the start takes to be over, and than a change is new. */
const LATER_MS = 120_000;
/** The longest pause of a Service that waits, and what its first step takes. */
const RETRY_MS = 70_000;

/** Another port than the one of the Service that is there already. */
const HTTPS = { spec: { ports: [{ port: 443, nodePort: 30_443, protocol: "TCP" }] } };

/** A tier, its list, and a Service that has been at rest for a while. */
async function startTier(odd: OddStage): Promise<{ tier: Network; list: AclList }> {
  const { clock, cloud, site } = odd.stage;
  odd.create("first");
  await odd.until("it has no address", () => odd.readAddress("first") !== undefined);
  await clock.advance(LATER_MS);
  const tier = cloud.state.networks.get(site.networkId);
  const list = cloud.state.aclLists.get(tier?.aclId ?? "");
  if (tier === undefined || list === undefined) throw new Error("There is no tier");
  return { tier, list };
}

test("a full pass lets clients in by the new list, and removes the item from the old one", async () => {
  await using odd = new OddStage("tier");
  const { clock, cloud } = odd.stage;
  const { state } = cloud;
  const { tier } = await startTier(odd);
  const listUses = (): string[] =>
    [...state.aclItems.values()].filter(({ reason }) => reason).map(({ listId }) => listId);
  const vpc = state.vpcs.get(tier.vpcId ?? "");
  if (vpc === undefined) throw new Error("There is no VPC");
  expect(listUses()).toEqual([tier.aclId ?? ""]);
  const list = toAclList("other", vpc);
  const deny = toAclItem({ list, number: 100, protocol: "all", action: "Deny" });
  state.aclLists.set(list.id, list);
  state.aclItems.set(deny.id, deny);
  tier.aclId = list.id;
  await clock.advance(PASS_MS);
  expect(listUses()).toEqual([list.id]);
});

describe("a Service that is made right after people changed the ACL", () => {
  test("waits, and gets no address, where the list lets nothing in now", async () => {
    await using odd = new OddStage("tier");
    const { tier } = await startTier(odd);
    tier.aclId = DEFAULT_DENY.id;
    odd.create("odd", HTTPS);
    await odd.stage.clock.advance(MADE_MS);
    expect(odd.readAddress("odd")).toBeUndefined();
    expect(odd.listSaid().join("\n")).toStartWith("NetworkNotUsable: ");
  });

  test("goes on within its retry where the list lets everything in now", async () => {
    await using odd = new OddStage("tier");
    const { tier } = await startTier(odd);
    tier.aclId = DEFAULT_DENY.id;
    odd.create("odd", HTTPS);
    await odd.stage.clock.advance(LATER_MS);
    expect(odd.readAddress("odd")).toBeUndefined();
    tier.aclId = DEFAULT_ALLOW.id;
    await odd.stage.clock.advance(RETRY_MS);
    expect(odd.readAddress("odd")).toBeDefined();
  });

  test("has its items before an item that refuses", async () => {
    await using odd = new OddStage("tier");
    const { list } = await startTier(odd);
    const { state } = odd.stage.cloud;
    const deny = toAclItem({ list, number: 50, protocol: "all", action: "Deny" });
    state.aclItems.set(deny.id, deny);
    odd.create("odd", HTTPS);
    await odd.stage.clock.advance(MADE_MS);
    expect(odd.readAddress("odd")).toBeDefined();
    const items = [...state.aclItems.values()].filter(({ startPort }) => startPort === 443);
    expect(items.map(({ number }) => number < 50)).toEqual([true]);
  });
});
