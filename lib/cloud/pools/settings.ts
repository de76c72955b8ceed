/**
 * The section `loadBalancers`: address pools, for clouds that have no load balancers.
 * @module
 */
import { type Cidr, overlaps, parseCidr } from "../../core/net/ip.ts";
import { EVERY_NAMESPACE, isNamespace, isNamespaceOrAll } from "../../core/text/label.ts";
import type { SharingRule } from "../capabilities/load_balancers.ts";
import {
  block,
  createSection,
  labels,
  listOf,
  oneOf,
  parsed,
  required,
  type SectionWarning,
  setting,
  type SettingsSection,
  trueOrFalse,
} from "../settings/schema.ts";
import { parseAddressRange } from "./address_range.ts";
import type { AddressPool } from "./pool.ts";

/** Which program reads the addresses in an annotation of its own. */
export type Announcer = (typeof ANNOUNCERS)[number];

/** The settings of the section. */
export interface LoadBalancerSettings {
  /** In the order in which addresses are taken from them. Empty: Landfall gives no addresses to Services. */
  readonly pools: readonly AddressPool[];
  readonly announce: Announcer;
  /** Which namespaces may use which addresses, of pools and of clouds with load balancers. */
  readonly sharing: readonly SharingRule[];
}

const ANNOUNCERS = ["none", "kubeVip"] as const;

/** More make every change of the file slow to check. */
const POOLS_MAX = 256;
const RANGES_MAX = 1_024;
const RANGES = { itemsMin: 1, itemsMax: RANGES_MAX };
const NAMESPACES = { itemsMin: 1, itemsMax: 1_024 };
const WHAT = "a pool (name, addresses, …)";
const NAME = "a name like that of a Namespace: lower-case letters, digits and dashes, at most 63";

const name = parsed((text) => (isNamespace(text) ? text : undefined), NAME);
const range = parsed(
  (text) => parseAddressRange(text).range,
  (text) => parseAddressRange(text).problem,
);

const POOL = {
  name: required(name, {
    type: "text",
    description:
      "Name of the pool, for the annotation `landfall.dev/address-pool`. Required, unique.",
  }),
  addresses: required(listOf(range, "[192.0.2.0/28, 192.0.2.40-192.0.2.50]", RANGES), {
    type: "list of CIDRs, ranges and addresses",
    description:
      "The addresses, IPv4 and IPv6. A CIDR is a subnet: Landfall does not use its first address and, for IPv4, its " +
      "last one, unless the subnet has only one or two. It uses every address of a range `first-last`. Required.",
  }),
  namespaces: setting(listOf(name, "[web, shop]", NAMESPACES), {
    type: "list of names",
    description: "Only Services in these namespaces get addresses of this pool. Default: all.",
  }),
  selector: setting(labels(), {
    type: "map",
    description:
      "Only Services that have all these labels get addresses of this pool. With `namespaces`, both must fit. " +
      "Default: all Services.",
  }),
  shareable: setting(trueOrFalse(), {
    type: "boolean",
    default: "false",
    description: "Whether Services may share an address with `landfall.dev/shared-address`.",
  }),
  autoAssign: setting(trueOrFalse(), {
    type: "boolean",
    default: "true",
    description:
      "Whether a Service gets an address of this pool without being asked. `false`: only if it asks for the pool or " +
      "for the address.",
  }),
};

/** A namespace, or all. */
const anyName = parsed(
  (text) => (isNamespaceOrAll(text) ? text : undefined),
  `${NAME}, or ${EVERY_NAMESPACE} for all`,
);
/** Here a CIDR means each of its addresses. */
const addressBlock = parsed(
  (text) => (text.includes("-") ? parseAddressRange(text).range : parseCidr(text)),
  (text) => parseAddressRange(text).problem ?? "",
);
const SHARING_WHAT = "a rule (addresses, namespaces)";

const SHARING = {
  addresses: required(listOf(addressBlock, "[192.0.2.10, 192.0.2.32/28]", RANGES), {
    type: "list of CIDRs, ranges and addresses",
    description: "The addresses, of pools or of CloudStack. Required.",
  }),
  namespaces: required(listOf(anyName, "[web, shop]", NAMESPACES), {
    type: "list of names, or `*`",
    description:
      "Services in these namespaces may have these addresses and share them, Services in others may not. `*`: all. " +
      "Required.",
  }),
};

/** The section of the controller `service`. */
export const LOAD_BALANCERS: SettingsSection<LoadBalancerSettings> = createSection({
  key: "loadBalancers",
  isOnlyForServices: true,
  docs: {
    title: "Addresses for Services of type LoadBalancer",
    text: [
      "Pools are for a cloud that has no load balancers; for CloudStack, `pools` and `announce` are errors. Landfall",
      "gives each Service of type LoadBalancer addresses from these pools, and another program announces them: see",
      "[address pools](../guides/address-pools.md). No two pools may have the same address.",
    ].join("\n"),
  },
  entries: {
    announce: setting(oneOf(ANNOUNCERS), {
      type: "`none` or `kubeVip`",
      default: "none",
      description:
        "`kubeVip`: Landfall also writes the addresses into the annotation `kube-vip.io/loadbalancerIPs`, where " +
        "kube-vip reads them.",
    }),
    pools: setting(listOf(block(POOL, WHAT), `[${WHAT}]`, { itemsMax: POOLS_MAX }), {
      type: "list",
      default: "[]",
      description:
        "The pools. Landfall takes addresses from the first one that is for the Service and has a free one. A pool " +
        "that shrinks or goes takes no address away from a Service.",
    }),
    sharing: setting(
      listOf(block(SHARING, SHARING_WHAT), `[${SHARING_WHAT}]`, { itemsMax: POOLS_MAX }),
      {
        type: "list",
        default: "[]",
        description:
          "Which namespaces may use some addresses, free ones, too. For others, the Services that have one say so " +
          "with `landfall.dev/share-address-with`. Also for CloudStack. A Service keeps what it has.",
      },
    ),
  },
  items: { pools: POOL, sharing: SHARING },
  toSettings: ({ pools = [], announce = "none", sharing = [] }) => ({
    pools: pools.map(({ name, addresses, namespaces, selector, shareable, autoAssign }) => ({
      name,
      ranges: addresses,
      ...(namespaces && { namespaces }),
      ...(selector && { selector }),
      isShareable: shareable ?? false,
      isAutoAssigned: autoAssign ?? true,
    })),
    announce,
    sharing,
  }),
  listIssues: ({ pools }) => listPoolIssues(pools),
  findIdle: ({ pools }) =>
    pools.length === 0
      ? undefined
      : {
          key: "pools",
          message:
            "no Service gets an address: the controller service does not run. Restart Landfall; if --controllers is " +
            "not the default, name service in it first",
        },
});

/** Reads what is written, so that repetitions and overlaps are reported even if there are other problems. */
function listPoolIssues(pools: unknown): SectionWarning[] {
  if (!Array.isArray(pools)) return [];
  const written = pools.slice(0, POOLS_MAX).map(toWritten);
  if (written.reduce((sum, { addresses }) => sum + addresses.length, 0) > RANGES_MAX) {
    return [{ key: "pools", message: `must have at most ${RANGES_MAX} items in all addresses` }];
  }
  return [...listRepeatedNames(written), ...listOverlaps(written)];
}

interface WrittenPool {
  readonly name: unknown;
  readonly addresses: readonly unknown[];
}

function toWritten(pool: unknown): WrittenPool {
  if (typeof pool !== "object" || pool === null) return { name: undefined, addresses: [] };
  const { name: found, addresses } = { name: undefined, addresses: undefined, ...pool };
  const list: unknown = addresses;
  return { name: found, addresses: Array.isArray(list) ? list : [] };
}

function listRepeatedNames(pools: readonly WrittenPool[]): SectionWarning[] {
  const seen = new Map<unknown, number>();
  return pools.flatMap((pool, index) => {
    if (typeof pool.name !== "string" || pool.name === "") return [];
    const first = seen.get(pool.name);
    if (first !== undefined) {
      return [{ key: `pools.${index}.name`, message: `is also the name of pools.${first}` }];
    }
    seen.set(pool.name, index);
    return [];
  });
}

interface PlacedRange {
  readonly range: Cidr;
  readonly key: string;
}

function listOverlaps(pools: readonly WrittenPool[]): SectionWarning[] {
  const all = pools.flatMap(({ addresses }, pool) =>
    addresses.flatMap((text, at): PlacedRange[] => {
      const { range: found } = typeof text === "string" ? parseAddressRange(text) : {};
      return found === undefined ? [] : [{ range: found, key: `pools.${pool}.addresses.${at}` }];
    }),
  );
  return all.flatMap(({ range: one, key }, index) => {
    const other = all.slice(0, index).find((earlier) => overlaps(earlier.range, one));
    return other === undefined
      ? []
      : [{ key, message: `has addresses that ${other.key} has, too` }];
  });
}
