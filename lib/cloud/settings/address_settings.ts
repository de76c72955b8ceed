/**
 * The settings of addresses that every cloud has.
 * @module
 */
import * as v from "valibot";
import type { Cidr } from "../../core/net/ip.ts";
import { cidrs, needText, oneOf, setting, type SettingSchema } from "./schema.ts";

/** A setting that a file need not have. */
type Optional<T> = v.OptionalSchema<SettingSchema<T>, undefined>;

const MODES = ["manage", "leave"] as const;

/** The schemas, by key, in the order of the reference page. */
export const ADDRESS_SETTINGS: {
  readonly mode: Optional<(typeof MODES)[number]>;
  readonly exclude: Optional<readonly Cidr[]>;
  readonly externalCIDRs: Optional<readonly Cidr[]>;
  readonly network: Optional<string>;
} = {
  mode: setting(oneOf(MODES), {
    type: "`manage` or `leave`",
    default: "manage",
    description:
      "Whether Landfall writes the addresses of Nodes. With `leave` it never does, not even when it " +
      "initialises a Node: for Nodes that reach each other through a VPN, where something else sets them.",
  }),
  exclude: setting(cidrs(), {
    type: "list of CIDRs",
    default: "[]",
    description: "Addresses that no Node gets, such as virtual IPs.",
  }),
  externalCIDRs: setting(cidrs(), {
    type: "list of CIDRs",
    default: "[]",
    description: "Addresses that become ExternalIP although they are not routable on the Internet.",
  }),
  network: setting(v.string(needText), {
    type: "text",
    description:
      "Name or UUID of the only network whose addresses are used. Default: all networks.",
  }),
};
