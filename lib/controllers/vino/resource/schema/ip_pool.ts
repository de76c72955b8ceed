/**
 * The schema of the `spec` of an IPPool.
 * @module
 */
import * as v from "valibot";
import { parseIp } from "../../../../core/net/ip.ts";
import { list, object, optional, required, type Schema, text } from "../../../kinds/parts.ts";
import {
  listRangeProblems,
  type AddressRange,
  ALLOCATED_MAX,
  type AllocatedIp,
  type AllocatedRange,
  type IpPoolSpec,
  RANGES_MAX,
} from "../ip_pool.ts";
import { ipAddress, macAddress, subnet } from "./fields.ts";

const OWNER = required(text(512), "Whose it is.");

const RANGE = {
  start: required(ipAddress(), "The first address."),
  stop: required(ipAddress(), "The last address."),
} as const;

const FIELDS: Schema<IpPoolSpec> = object<IpPoolSpec>({
  subnet: required(subnet(), "The subnet in CIDR form, such as 192.0.2.0/24. It does not change."),
  ranges: optional(
    list(object<AddressRange>(RANGE), RANGES_MAX),
    "From which addresses are given out.",
  ),
  allocatedRanges: optional(
    list(object<AllocatedRange>({ ...RANGE, allocatedTo: OWNER }), ALLOCATED_MAX),
    "Parts of the subnet that have an owner, in old pools.",
  ),
  allocatedIPs: optional(
    list(
      object<AllocatedIp>({
        ip: required(ipAddress(), "The address."),
        mac: required(macAddress(), "MAC address of the interface that has it."),
        allocatedTo: OWNER,
      }),
      ALLOCATED_MAX,
    ),
    "Addresses that have an owner.",
  ),
  macPrefix: optional(macAddress(), "The first MAC address, six pairs with colons."),
  nextMAC: optional(macAddress(), "The MAC address that comes next, in old pools."),
});

/** The schema of `spec`. */
export const POOL_SPEC: Schema<IpPoolSpec> = v.pipe(
  FIELDS,
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    for (const message of listPoolProblems(dataset.value)) addIssue({ message });
  }),
);

function listPoolProblems(pool: IpPoolSpec): string[] {
  const { subnet: block, ranges = [], allocatedRanges = [], allocatedIPs = [] } = pool;
  const inRanges = Object.entries({ ranges, allocatedRanges }).flatMap(([name, all]) =>
    all.flatMap((range, at) =>
      listRangeProblems(block, range).map((problem) => `${name}[${at}]: ${problem}`),
    ),
  );
  const outside = allocatedIPs.filter(({ ip }) => listRangeProblems(block, toRange(ip)).length > 0);
  return [
    ...inRanges,
    ...outside.slice(0, 1).map(({ ip }) => `allocatedIPs: ${ip} must be in the subnet`),
    ...listTwice(allocatedIPs.map(({ ip }) => parseIp(ip)?.text ?? ip)),
    ...listTwice(allocatedIPs.map(({ mac }) => mac.toLowerCase())),
  ];
}

function toRange(ip: string): AddressRange {
  return { start: ip, stop: ip };
}

/** Names the first text that occurs twice. */
function listTwice(texts: readonly string[]): string[] {
  const seen = new Set<string>();
  const twice = texts.find((one) => {
    if (seen.has(one)) return true;
    seen.add(one);
    return false;
  });
  return twice === undefined ? [] : [`allocatedIPs: ${twice} must not have two owners`];
}
