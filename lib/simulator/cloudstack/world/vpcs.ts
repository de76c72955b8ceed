/**
 * VPCs of the simulated CloudStack, and the lists of network ACL items that say what reaches their tiers.
 * @module
 */
import { toUuid } from "../../uuid.ts";

/** A VPC. Networks that are its tiers name it. */
export interface Vpc {
  readonly id: string;
  readonly name: string;
  readonly zoneId: string;
  readonly accountId: string;
  readonly cidr: string;
}

/** A list of network ACL items. Several tiers may use the same one. */
export interface AclList {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** The VPC that it belongs to; absent for a list of every account, which only the root administrator changes. */
  readonly vpcId?: string;
}

/** An item of a list. The first one that fits, by number, decides; what fits none is refused on the way in. */
export interface AclItem {
  readonly id: string;
  readonly listId: string;
  /** `tcp`, `udp`, `icmp`, `all`, or a number. */
  protocol: string;
  /** Every port when it is absent. */
  startPort: number | undefined;
  endPort: number | undefined;
  icmpType: number | undefined;
  icmpCode: number | undefined;
  /** Sources on the way in, targets on the way out. */
  cidrs: readonly string[];
  trafficType: "Ingress" | "Egress";
  action: "Allow" | "Deny";
  /** Its place in the list. */
  number: number;
  reason: string | undefined;
  /** `Add` until the router has it, `Revoke` while it is deleted. */
  state: "Add" | "Active" | "Revoke";
}

/** What {@linkcode toAclItem} takes. */
interface AclItemOptions extends Partial<Omit<AclItem, "id" | "listId">> {
  readonly list: AclList;
  readonly number: number;
}

/** The list that lets everything through. It is there from the start, and cannot be changed. */
export const DEFAULT_ALLOW: AclList = toDefault("allow");

/** The list that lets nothing through. It is there from the start, and cannot be changed. */
export const DEFAULT_DENY: AclList = toDefault("deny");

/** The items of the two lists. */
export const DEFAULT_ITEMS: readonly AclItem[] = [DEFAULT_ALLOW, DEFAULT_DENY].flatMap((list) =>
  (["Ingress", "Egress"] as const).map((trafficType, at) =>
    toAclItem({
      list,
      number: at + 1,
      protocol: "all",
      trafficType,
      action: list === DEFAULT_ALLOW ? "Allow" : "Deny",
    }),
  ),
);

/** An item that is in force: TCP from everywhere is let in, unless something else is asked for. */
export function toAclItem({ list, ...item }: AclItemOptions): AclItem {
  return {
    protocol: "tcp",
    endPort: item.startPort,
    startPort: undefined,
    icmpType: undefined,
    icmpCode: undefined,
    cidrs: ["0.0.0.0/0"],
    trafficType: "Ingress",
    action: "Allow",
    reason: undefined,
    state: "Active",
    ...item,
    id: toUuid(`acl-item/${list.id}/${item.number}`),
    listId: list.id,
  };
}

/** Whether a list is one of the two that cannot be changed. */
export function isDefault(list: AclList): boolean {
  return list.id === DEFAULT_ALLOW.id || list.id === DEFAULT_DENY.id;
}

function toDefault(what: "allow" | "deny"): AclList {
  const name = `default_${what}`;
  const description = `Default Network ACL ${what === "allow" ? "Allow" : "Deny"} All`;
  return { id: toUuid(`acl/${name}`), name, description };
}
