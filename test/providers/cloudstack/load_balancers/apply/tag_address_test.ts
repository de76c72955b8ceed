/**
 * Tagging addresses.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { formatRecord } from "../../../../../lib/providers/cloudstack/load_balancers/record.ts";
import { OWNER, useApply } from "./apply_rig.ts";
import { SIGNER } from "../objects.ts";

const rig = useApply();

async function takeIp(): Promise<string> {
  const done = await rig.change("associateIpAddress", { networkid: rig.networkId });
  await rig.look();
  return done.id;
}

describe("tagAddress", () => {
  test("a tag that is there already asks for a new look instead of failing", async () => {
    const addressId = await takeIp();
    const fields = { resourceids: addressId, resourcetype: "PublicIpAddress" };
    await rig.change("createTags", { ...fields, "tags[0].key": "a", "tags[0].value": "b" });
    const tags = new Map([["a", "b"]]);
    expect(await rig.apply({ kind: "tagAddress", addressId, tags })).toBeUndefined();
    expect(rig.store.isValid).toBe(false);
    expect(String(await rig.apply({ kind: "tagAddress", addressId, tags }))).toContain("530");
  });

  test("adds to the tags that the address has", async () => {
    const addressId = await takeIp();
    await rig.apply({ kind: "tagAddress", addressId, tags: new Map([["a", "b"]]) });
    await rig.apply({ kind: "tagAddress", addressId, tags: new Map([["c", "d"]]) });
    expect(rig.tagsOf(addressId)).toEqual({ a: "b", c: "d" });
    const known = rig.store.view?.addresses.get(addressId)?.tags;
    expect(known).toEqual((await rig.look()).addresses.get(addressId)?.tags);
  });

  test("forgets that the address was asked for, and nothing else", async () => {
    const addressId = await takeIp();
    const place = { networkId: rig.networkId };
    const tags = new Map([["a", "b"]]);
    for (const [id, isKept] of [
      [rig.networkId, true],
      [addressId, false],
    ] as const) {
      const address = { id, place, atMs: 0, wasFree: true };
      rig.record.text = formatRecord({ address }, OWNER.uid, SIGNER);
      await rig.apply({ kind: "tagAddress", addressId, tags });
      expect(rig.record.text !== undefined).toBe(isKept);
      await rig.change("deleteTags", { resourceids: addressId, resourcetype: "PublicIpAddress" });
    }
  });
});
