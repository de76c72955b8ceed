/**
 * Items of ACL lists: what a step does in CloudStack, and what the store then shows.
 * @module
 */
import { beforeEach, describe, expect, test } from "bun:test";
import type { AclItem } from "../../../../../lib/providers/cloudstack/load_balancers/view.ts";
import { LoadBalancingApi } from "../../../../../lib/providers/cloudstack/wire/load_balancing_api.ts";
import { addTier, type Tier } from "../../../../support/cloud/cloudstack_networks.ts";
import { useApply } from "./apply_rig.ts";

const rig = useApply();
const signal = new AbortController().signal;
const CIDRS = ["192.0.2.0/24", "10.0.0.0/8"];

let tier: Tier;
beforeEach(async () => {
  tier = addTier(rig, "tier");
  await rig.look({ aclListIds: [tier.aclId] });
});

function toItem(more: { readonly number?: number } = {}): Parameters<typeof rig.apply>[0] {
  const place = { listId: tier.aclId, networkId: tier.id };
  const traffic = { protocol: "tcp", port: 443, cidrs: CIDRS } as const;
  return {
    kind: "createAclItem",
    ...place,
    ...traffic,
    reason: "Managed by Landfall for a1",
    ...more,
  };
}

function known(): readonly AclItem[] {
  return rig.store.view?.aclItems.get(tier.aclId) ?? [];
}

async function shown(): Promise<readonly AclItem[]> {
  const api = new LoadBalancingApi(rig.session);
  return (await rig.finish(api.listAclItems(tier.aclId, undefined, signal))).objects;
}

describe("items of ACL lists", () => {
  test("an item lets its clients in, at its place, and says why", async () => {
    expect(await rig.apply(toItem({ number: 7 }))).toBeUndefined();
    const item = { isIngress: true, isAllow: true, number: 7, startPort: 443, endPort: 443 };
    expect(known()).toMatchObject([{ ...item, cidrs: CIDRS.toSorted() }]);
    expect(known()[0]?.reason).toBe("Managed by Landfall for a1");
    expect(toBare(known())).toEqual(toBare(await shown()));
    expect(rig.store.isValid).toBe(true);
  });

  test("only what is given of an item changes", async () => {
    await rig.apply(toItem());
    const [{ id: itemId } = { id: "" }] = known();
    const item = { kind: "updateAclItem", itemId, listId: tier.aclId } as const;
    await rig.apply({ ...item, cidrs: ["10.1.0.0/16"] });
    await rig.apply({ ...item, reason: "other" });
    expect(known()).toMatchObject([{ cidrs: ["10.1.0.0/16"], reason: "other", startPort: 443 }]);
    expect(toBare(known())).toEqual(toBare(await shown()));
  });

  test("an item goes, and one that is gone already is no failure", async () => {
    await rig.apply(toItem());
    const [{ id: itemId } = { id: "" }] = known();
    const change = { kind: "deleteAclItem", itemId, listId: tier.aclId } as const;
    expect([await rig.apply(change), known(), await shown()]).toEqual([undefined, [], []]);
    expect(await rig.apply(change)).toBeUndefined();
  });
});

/** The server shows the state from before the job in its result. */
function toBare(items: readonly AclItem[]): unknown {
  return items.map((one) => ({ ...one, state: undefined }));
}
