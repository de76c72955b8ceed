/**
 * What inventories show of machines.
 * @module
 */
import * as v from "valibot";
import { MACHINE_PREFIX } from "../../../../cloud/capabilities/machines.ts";
import type { Followed } from "../../inventory.ts";
import { COLLECTIONS } from "../../client.ts";
import { OWN_VMS } from "./filters.ts";

const text = v.nullish(v.string());
const texts = v.nullish(v.array(v.string()));
const flag = v.nullish(v.boolean());

/** What inventories do not read anyway. What cannot be read is missing: nothing changes because of an inventory. */
const MORE = {
  name_description: v.fallback(text, undefined),
  CPUs: v.fallback(v.nullish(v.object({ number: v.nullish(v.number()) })), undefined),
  blockedOperations: v.fallback(v.nullish(v.record(v.string(), v.unknown())), undefined),
  boot: v.fallback(v.nullish(v.object({ order: text, firmware: text })), undefined),
  VIFs: v.fallback(texts, undefined),
  $VBDs: v.fallback(texts, undefined),
  creation: v.fallback(v.nullish(v.object({ template: text, user: text })), undefined),
  startTime: v.fallback(v.nullish(v.number()), undefined),
  pvDriversDetected: v.fallback(flag, undefined),
  xenTools: v.optional(v.unknown()),
};

/** See {@linkcode Followed}. */
export const FOLLOWED: Followed = {
  vms: {
    fields: Object.keys(MORE)
      .filter((field) => field !== "CPUs")
      .join(","),
    schema: v.intersect([COLLECTIONS.vms.schema, v.object(MORE)]),
    filter: OWN_VMS,
  },
  hosts: { fields: "enabled", schema: COLLECTIONS.hosts.schema },
  isOurs: (vm) => {
    if (vm.name_label?.startsWith(MACHINE_PREFIX)) return true;
    // It may be a copy of one, with its description.
    return "name_description" in vm && String(vm.name_description).includes("vino uid=");
  },
};
