/**
 * What a network says that it offers.
 * @module
 */
import { parseJson } from "../../../core/text/values.ts";
import * as v from "valibot";
import { decode } from "../../../cloud_http/decode.ts";
import type { Network, StickinessMethod } from "../load_balancers/observation.ts";
import { FLAG } from "./fields.ts";

/** A service of a network, as CloudStack shows it. */
export interface NetworkService {
  readonly name: string;
  readonly capability?:
    | readonly { readonly name: string; readonly value?: string | null | undefined }[]
    | null
    | undefined;
}

/** The part of a network that its services say. */
type Offered = Pick<
  Network,
  | "hasLoadBalancers"
  | "hasFirewall"
  | "hasNetworkAcl"
  | "hasDns"
  | "algorithms"
  | "protocols"
  | "stickiness"
>;

/** Reads the services of a network. What a network does not say, or not in a known form, is absent. */
export function readServices(services: readonly NetworkService[]): Offered {
  const find = (name: string): NetworkService | undefined =>
    services.find((one) => one.name.toLowerCase() === name);
  const loadBalancers = find("lb");
  const say = (name: string): string =>
    loadBalancers?.capability?.find((one) => one.name.toLowerCase() === name)?.value ?? "";
  const algorithms = toWords(say("supportedlbalgorithms"));
  const protocols = toWords(say("supportedprotocols"));
  const stickiness = parseStickinessMethods(say("supportedstickinessmethods"));
  return {
    hasLoadBalancers: loadBalancers !== undefined,
    hasFirewall: find("firewall") !== undefined,
    hasNetworkAcl: find("networkacl") !== undefined,
    hasDns: find("dns") !== undefined,
    ...(algorithms.size > 0 && { algorithms }),
    ...(protocols.size > 0 && { protocols }),
    ...(stickiness.length > 0 && { stickiness }),
  };
}

function toWords(text: string): ReadonlySet<string> {
  return new Set(
    text
      .toLowerCase()
      .split(/[\s,]+/)
      .filter((one) => one !== ""),
  );
}

const METHODS = v.array(
  v.object({
    methodname: v.string(),
    paramlist: v.nullish(
      v.array(
        v.object({ paramname: v.string(), required: v.nullish(FLAG), isflag: v.nullish(FLAG) }),
      ),
    ),
  }),
);

/** JSON within a text of JSON. */
function parseStickinessMethods(text: string): readonly StickinessMethod[] {
  const decoded = decode(METHODS, parseJson(text));
  if ("problem" in decoded) return [];
  return decoded.value.map(({ methodname, paramlist }) => ({
    name: methodname,
    params: new Map(
      (paramlist ?? []).map(({ paramname, required, isflag }) => [
        paramname,
        { isRequired: required ?? false, isFlag: isflag ?? false },
      ]),
    ),
  }));
}
