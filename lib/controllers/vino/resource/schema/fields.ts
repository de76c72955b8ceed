/**
 * Parts of schemas that Vinos and IPPools share.
 * @module
 */
import * as v from "valibot";
import { parseCidr, parseIp } from "../../../../core/net/ip.ts";
import { form, type Rule, type Schema, text, withRules } from "../../../kinds/parts.ts";
import { mayBeHost } from "../gateways.ts";
import { SIZE_FORM, toBytes } from "../quantity.ts";

const EITHER_FAMILY = { anyOf: [{ format: "ipv4" }, { format: "ipv6" }] };
const ADDRESS_LENGTH_MAX = 45;

/** An IP address. */
export function ipAddress(): Schema<string> {
  return v.pipe(
    text(ADDRESS_LENGTH_MAX),
    v.metadata(EITHER_FAMILY),
    v.check((address) => parseIp(address) !== undefined, "must be an IP address"),
  );
}

/** What cannot be the address of a host; an API server refuses only the two that are written most often. */
const OF_HOST: Rule<string> = {
  cel: "!(self in ['0.0.0.0', '::'])",
  message: "must be the address of a host",
  holds: mayBeHost,
  explain: (address) => `no host has ${address}`,
};

/** The address of a host: of a gateway, or of a name server. @param schema Of an address */
export function ofHost(schema: Schema<string>): Schema<string> {
  return withRules(schema, [OF_HOST]);
}

/** A subnet in CIDR form. Bits of hosts may be set, as old manifests have them. */
export function subnet(): Schema<string> {
  return v.pipe(
    text(ADDRESS_LENGTH_MAX + "/128".length),
    v.metadata({ format: "cidr" }),
    v.check(
      (block) => block.includes("/") && parseCidr(block) !== undefined,
      "must be a subnet in CIDR form, such as 192.0.2.0/24",
    ),
  );
}

/** A MAC address that a machine can have. */
export function macAddress(): Schema<string> {
  return form(
    /^[0-9A-Fa-f][02468ACEace](:[0-9A-Fa-f]{2}){5}$/,
    17,
    "six pairs of hexadecimal digits with colons, the first pair even",
  );
}

/** A part of names of objects and machines. */
export function namePart(maxLength: number): Schema<string> {
  return form(
    /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/,
    maxLength,
    'lower-case letters, digits and "-", with a letter or digit at both ends',
  );
}

/** ID or name of something in the cloud. */
export function idOrName(): Schema<string> {
  return form(/\S/, 256, "an ID or a name");
}

/** A size between two others. @param min As Kubernetes writes quantities */
export function size(min: string, max: string): Schema<string> {
  const [least = 0, most = 0] = [min, max].map(toBytes);
  return v.pipe(
    form(SIZE_FORM, 32, "a size, such as 8Gi"),
    v.check((one) => {
      // A text of another form has its own problem.
      if (!SIZE_FORM.test(one)) return true;
      const bytes = toBytes(one) ?? 0;
      return bytes >= least && bytes <= most;
    }, `must be a size from ${min} to ${max}`),
  );
}
