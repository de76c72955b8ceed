/**
 * The objects of CloudStack that load balancers are made of: what the server calls each field, and how it is read and
 * written.
 * @module
 */
import * as v from "valibot";
import { decode } from "../../../cloud_http/decode.ts";
import { assert } from "../../../core/errors.ts";
import { parseIp } from "../../../core/net/ip.ts";
import { parseJson } from "../../../core/text/values.ts";
import type {
  AclItem,
  FirewallRule,
  Network,
  PublicAddress,
  Rule,
  StickinessMethod,
  StickinessPolicy,
  Unreadable,
} from "../load_balancers/observation.ts";
import {
  CIDRS,
  type Field,
  FLAG,
  ID,
  NAME,
  PORT,
  REFERENCE,
  TEXT,
  WHOLE_NUMBER,
} from "./schema.ts";

/** A field that may be absent may be read as nothing. */
type Reading<T, K extends keyof T> = object extends Pick<T, K> ? T[K] | null | undefined : T[K];

/** What the server calls each field, and how it is read. */
type Fields<T> = { readonly [K in keyof T]-?: readonly [name: string, read: Field<Reading<T, K>>] };

/** A list of the server. */
export interface Listing<T> {
  /** The command that lists the objects, and their key in its answer. */
  readonly command: string;
  readonly key: string;
  /** Reads one. */
  readonly schema: Field<T>;
}

/** A kind of objects that load balancers are made of. */
export interface ObjectKind<T> extends Listing<T> {
  readonly kind: Unreadable["kind"];
  /** What the server calls each field, in commands as in answers. */
  readonly names: ReadonlyMap<string, string>;
}

/** @param fields In their order: the problem of an object is the first field that cannot be read */
function readFields<T extends object>(fields: Fields<T>): Pick<ObjectKind<T>, "names" | "schema"> {
  const entries = Object.entries<readonly [string, Field<unknown>]>(fields);
  const toKnown = (read: Readonly<Record<string, unknown>>): object =>
    Object.fromEntries(
      entries.flatMap(([field, [name]]) => {
        const value = read[name] ?? undefined;
        return value === undefined ? [] : [[field, value]];
      }),
    );
  const schema = v.pipe(
    v.object(Object.fromEntries(entries.map(([, [name, read]]) => [name, read]))),
    v.transform(toKnown),
    // So the type of the fields says.
    v.guard((_one: object): _one is T => true),
  );
  return { schema, names: new Map(entries.map(([field, [name]]) => [field, name])) };
}

/** Which of the fields of a kind are given: their names here and on the server, and their values. */
export function listFields<T extends object>(
  { names }: Pick<ObjectKind<T>, "names">,
  values: Partial<T>,
): readonly { readonly field: string; readonly name: string; readonly value: unknown }[] {
  const given = new Map(Object.entries<unknown>(values));
  return [...names].flatMap(([field, name]) => {
    const value = given.get(field);
    return value === undefined ? [] : [{ field, name, value }];
  });
}

/** The parameters of a command that writes these fields of an object: never one that the kind does not have. */
export function toParams<T extends object>(
  kind: Pick<ObjectKind<T>, "names">,
  values: Partial<T>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    listFields(kind, values).map(({ name, value }) => [name, toParam(value)]),
  );
}

/** CloudStack takes an empty list of blocks for everyone. */
function toParam(value: unknown): string {
  if (!Array.isArray(value)) return String(value);
  assert(value.length > 0, "what restricts clients names at least one block");
  return value.join(",");
}

/** A text; nothing if it is empty. */
const WORDS: Field<string | undefined> = v.pipe(
  NAME,
  v.transform((one) => one || undefined),
);
const WORD: Field<string> = v.pipe(
  v.string(),
  v.transform((one) => one.toLowerCase()),
);
const TAGS: Field<ReadonlyMap<string, string>> = v.pipe(
  v.nullish(v.array(v.object({ key: v.string(), value: NAME })), []),
  v.transform((tags) => new Map(tags.map(({ key, value }) => [key, value]))),
);
const IP: Field<string> = v.pipe(
  v.string(),
  v.check((one) => parseIp(one) !== undefined, "an IP address"),
  v.transform((one) => parseIp(one)?.text ?? ""),
);
const TIME: Field<number | undefined> = v.pipe(
  NAME,
  v.transform((one) => {
    const ms = Date.parse(one);
    return Number.isNaN(ms) ? undefined : ms;
  }),
);
/** One of two words. */
function either(yes: string, no: string): Field<boolean> {
  return v.pipe(
    WORD,
    v.picklist([yes, no]),
    v.transform((one) => one === yes),
  );
}
/** Flags of stickiness have no value. */
const PARAMS: Field<ReadonlyMap<string, string>> = v.pipe(
  v.nullish(v.record(v.string(), v.nullish(v.union([v.string(), v.number(), v.boolean()]))), {}),
  v.transform(
    (params) =>
      new Map(Object.entries(params).map(([key, value]) => [key, String(value ?? "")] as const)),
  ),
);

/** The public addresses that the account or project has taken. */
export const ADDRESSES: ObjectKind<PublicAddress> = {
  kind: "address",
  command: "listPublicIpAddresses",
  key: "publicipaddress",
  ...readFields<Omit<PublicAddress, "usedBy">>({
    id: ["id", ID],
    ip: ["ipaddress", IP],
    state: ["state", NAME],
    allocatedAtMs: ["allocated", TIME],
    networkId: ["associatednetworkid", REFERENCE],
    vpcId: ["vpcid", REFERENCE],
    isSourceNat: ["issourcenat", v.nullish(FLAG, false)],
    isStaticNat: ["isstaticnat", v.nullish(FLAG, false)],
    hasRules: ["hasrules", v.nullish(FLAG)],
    tags: ["tags", TAGS],
  }),
};

const RULE_LIST = { command: "listLoadBalancerRules", key: "loadbalancerrule" } as const;

/** The load-balancer rules. */
export const RULES: ObjectKind<Rule> = {
  kind: "rule",
  ...RULE_LIST,
  ...readFields<Rule>({
    id: ["id", ID],
    name: ["name", v.string()],
    description: ["description", WORDS],
    addressId: ["publicipid", ID],
    ip: ["publicip", NAME],
    networkId: ["networkid", ID],
    publicPort: ["publicport", PORT],
    privatePort: ["privateport", PORT],
    protocol: ["protocol", NAME],
    algorithm: ["algorithm", NAME],
    cidrs: ["cidrlist", CIDRS],
    state: ["state", NAME],
  }),
};

/** The firewall rules of public addresses. */
export const FIREWALL_RULES: ObjectKind<FirewallRule> = {
  kind: "firewallRule",
  command: "listFirewallRules",
  key: "firewallrule",
  ...readFields<FirewallRule>({
    id: ["id", ID],
    addressId: ["ipaddressid", ID],
    protocol: ["protocol", WORD],
    startPort: ["startport", v.nullish(PORT)],
    endPort: ["endport", v.nullish(PORT)],
    cidrs: ["cidrlist", CIDRS],
    state: ["state", NAME],
  }),
};

/** The items of one list of network ACLs, which a parameter names. */
export const ACL_ITEMS: ObjectKind<AclItem> = {
  kind: "aclItem",
  command: "listNetworkACLs",
  key: "networkacl",
  ...readFields<AclItem>({
    id: ["id", ID],
    listId: ["aclid", ID],
    protocol: ["protocol", WORD],
    startPort: ["startport", v.nullish(PORT)],
    endPort: ["endport", v.nullish(PORT)],
    cidrs: ["cidrlist", CIDRS],
    isIngress: ["traffictype", either("ingress", "egress")],
    isAllow: ["action", either("allow", "deny")],
    number: ["number", WHOLE_NUMBER],
    reason: ["reason", WORDS],
  }),
};

const SERVICES: Field<Offered> = v.pipe(
  v.array(
    v.object({
      name: v.string(),
      capability: v.nullish(v.array(v.object({ name: v.string(), value: TEXT }))),
    }),
  ),
  v.transform((services) => readServices(services)),
);

const NETWORK = readFields<Omit<Network, keyof Offered> & { readonly services: Offered }>({
  id: ["id", ID],
  name: ["name", NAME],
  zoneId: ["zoneid", REFERENCE],
  vpcId: ["vpcid", REFERENCE],
  aclListId: ["aclid", REFERENCE],
  aclListName: ["aclname", WORDS],
  services: ["service", SERVICES],
});

/** The networks. */
export const NETWORKS: ObjectKind<Network> = {
  kind: "network",
  command: "listNetworks",
  key: "network",
  names: NETWORK.names,
  schema: v.pipe(
    NETWORK.schema,
    v.transform(({ services, ...one }) => ({ ...one, ...services })),
  ),
};

/** The policies of one rule. */
interface RulePolicies {
  /** Of the rule. */
  readonly id: string;
  readonly policies: readonly StickinessPolicy[];
}

const POLICY = readFields<StickinessPolicy>({
  id: ["id", ID],
  name: ["name", NAME],
  method: ["methodname", NAME],
  description: ["description", WORDS],
  state: ["state", NAME],
  params: ["params", PARAMS],
});

/** The stickiness policies of rules. */
export const POLICIES: Listing<RulePolicies> = {
  command: "listLBStickinessPolicies",
  key: "stickinesspolicies",
  schema: readFields<RulePolicies>({
    id: ["lbruleid", ID],
    policies: ["stickinesspolicy", v.nullish(v.array(POLICY.schema), [])],
  }).schema,
};

/** The lists of network ACLs. */
export const ACL_LISTS: Listing<{ readonly id: string; readonly name: string }> = {
  command: "listNetworkACLLists",
  key: "networkacllist",
  schema: v.object({ id: ID, name: v.string() }),
};

/** Something of which only the ID matters. */
export interface Identified {
  readonly id: string;
}
/** See {@linkcode Identified}. */
export const IDENTIFIED: Field<Identified> = v.object({ id: ID });

/** The IDs of rules. */
export const RULE_IDS: Listing<Identified> = { ...RULE_LIST, schema: IDENTIFIED };

/** The VMs behind a rule. */
export const MEMBERS: Listing<Identified> = {
  command: "listLoadBalancerRuleInstances",
  key: "loadbalancerruleinstance",
  schema: IDENTIFIED,
};

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
    paramlist: v.nullish(v.array(v.object({ paramname: v.string(), required: v.nullish(FLAG) }))),
  }),
);

/** JSON within a text of JSON. */
function parseStickinessMethods(text: string): readonly StickinessMethod[] {
  const decoded = decode(METHODS, parseJson(text));
  if ("problem" in decoded) return [];
  return decoded.value.map(({ methodname, paramlist }) => ({
    name: methodname,
    params: new Map(
      (paramlist ?? []).map(({ paramname, required }) => [
        paramname,
        { isRequired: required ?? false },
      ]),
    ),
  }));
}
