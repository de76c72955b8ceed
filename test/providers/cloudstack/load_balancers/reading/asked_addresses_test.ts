import { describe, expect, test } from "bun:test";
import { listAsked } from "../../../../../lib/providers/cloudstack/load_balancers/reading/asked_addresses.ts";
import { formatRecord } from "../../../../../lib/providers/cloudstack/load_balancers/record.ts";
import type { PublicAddress } from "../../../../../lib/providers/cloudstack/load_balancers/view.ts";
import { toClaim } from "../look_rig.ts";
import { byId, SIGNER, toAddress } from "../objects.ts";

const [ID = "", NET = ""] = ["a", "b"].map((end) => `0a1b2c3d-0000-4000-8000-00000000000${end}`);
const AT_MS = Date.UTC(2026, 0, 2);

/** A Service whose record names an address. */
function toRecorded(uid: string, named: { id?: string; ip?: string }, atMs: number = AT_MS) {
  const address = { ...named, place: { networkId: NET }, atMs, wasFree: true };
  const record = formatRecord({ address }, "uid", SIGNER);
  return toClaim(uid, record === undefined ? {} : { record });
}

const FREE = toAddress(ID);

describe("listAsked()", () => {
  test.each<[string, PublicAddress, { id?: string; ip?: string }, boolean]>([
    ["by its ID", FREE, { id: ID, ip: "192.0.2.1" }, true],
    ["by its IP alone", FREE, { ip: "192.0.2.1" }, true],
    ["by another ID", FREE, { id: NET, ip: "192.0.2.1" }, false],
    ["that has a tag", toAddress(ID, { tags: new Map([["any", "tag"]]) }), { id: ID }, false],
  ])("looks at an address that a record names %s", (_what, address, named, isAsked) => {
    const asked = listAsked([toRecorded("uid", named)], byId(address), SIGNER);
    expect([...asked]).toEqual(isAsked ? [[ID, AT_MS]] : []);
  });

  test("looks at none for Services without a record, or with that of another one", () => {
    const claims = [toClaim("uid"), toRecorded("other", { id: ID })];
    expect(listAsked(claims, byId(FREE), SIGNER).size).toBe(0);
    expect(listAsked([toClaim("uid", { record: "{" })], byId(FREE), SIGNER).size).toBe(0);
  });

  test("takes the earliest time if two records name the same address", () => {
    const claims = [AT_MS, AT_MS - 1_000, AT_MS + 1_000].map((ms) =>
      toRecorded("uid", { id: ID }, ms),
    );
    expect([...listAsked(claims, byId(FREE), SIGNER)]).toEqual([[ID, AT_MS - 1_000]]);
  });
});
