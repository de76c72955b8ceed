/**
 * Tags addresses, which proves from then on whose they are.
 * @module
 */
import type { ChangeOf } from "../steps.ts";
import { type Acting, sendPlain } from "./acting.ts";
import { toIndexed } from "./indexed.ts";

/** Tags an address. The record then need not say that it was asked for. */
export async function tagAddress(
  { addressId, tags }: ChangeOf<"tagAddress">,
  acting: Acting,
): Promise<void> {
  await tag(addressId, tags, acting);
  const { record } = acting;
  if (record.kept.address?.id === addressId) await record.keepAddress();
}

/** Adds tags to an address. CloudStack adds none of them if it has one of the keys already. */
export async function tag(
  addressId: string,
  tags: ReadonlyMap<string, string>,
  acting: Acting,
): Promise<void> {
  await sendPlain(acting, "createTags", {
    resourceids: addressId,
    resourcetype: "PublicIpAddress",
    ...toIndexed("tags", "key", tags),
  });
  const { store } = acting;
  const address = store.view?.addresses.get(addressId);
  if (address === undefined) return store.invalidate();
  store.putAddress({ ...address, tags: new Map([...address.tags, ...tags]) });
}
