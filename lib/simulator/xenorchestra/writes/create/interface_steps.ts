/**
 * The seventh step of a creation: interfaces of the template go where they are named, then new ones are made one after
 * another.
 * @module
 */
import type { XoRecord } from "../../records.ts";
import type { Work } from "../backend.ts";
import { findFree } from "../steps/disks.ts";
import { noSuchObject } from "../errors.ts";
import { createInterface, destroyInterface, listInterfaces } from "../steps/interfaces.ts";
import type { VifWish } from "./body.ts";

/** Removes and makes the interfaces of a new machine. Fills in the devices that were not named. */
export async function applyInterfaces(
  work: Work,
  vm: XoRecord,
  wishes: readonly VifWish[],
): Promise<void> {
  const { state } = work;
  const named = new Set(wishes.map(({ device }) => device));
  for (const vif of listInterfaces(state, vm.id)) {
    if (named.has(String(vif["device"]))) await destroyInterface(work, vif, vm);
  }
  for (const wish of wishes) {
    if (wish.destroy === true) continue;
    const network = wish.network === undefined ? undefined : state.read("networks", wish.network);
    if (network?.["$pool"] !== vm["$pool"] || network === undefined) {
      throw noSuchObject(wish.network);
    }
    const taken = new Set(listInterfaces(state, vm.id).map((vif) => String(vif["device"])));
    const others = wishes.flatMap(({ device }) => device ?? []);
    wish.device ??= findFree(new Set([...taken, ...others]));
    await createInterface(work, vm, {
      network,
      device: wish.device,
      ...(wish.mac !== undefined && { mac: wish.mac }),
      ...(wish.mtu !== undefined && { mtu: wish.mtu }),
      ...(wish.ipv4_allowed && { ipv4: wish.ipv4_allowed }),
      ...(wish.ipv6_allowed && { ipv6: wish.ipv6_allowed }),
    });
  }
}
