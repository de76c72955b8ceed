/**
 * The rules that no port is used twice over all services of a SIPCluster.
 * @module
 */
import type { PortRange, SipServices } from "../sip_cluster.ts";
import type { Rule } from "../../../kinds/parts.ts";

/** Where the entries of a list have their ports. */
interface PortFields {
  readonly list: keyof SipServices;
  readonly start: string;
  readonly end: string;
}

const SINGLE = { start: "nodePort", end: "nodePort" };
const LISTS: readonly PortFields[] = [
  { list: "loadBalancerControlPlane", ...SINGLE },
  { list: "loadBalancerWorker", start: "nodePortRange.start", end: "nodePortRange.end" },
  { list: "jumpHost", ...SINGLE },
  { list: "auth", ...SINGLE },
];

/** One rule for each list, and one for each pair of lists: CEL cannot put lists together at a bounded cost. */
export const PORT_RULES: readonly Rule<SipServices>[] = LISTS.flatMap((one, at) => [
  withinList(one),
  ...LISTS.slice(at + 1).map((other) => betweenLists(one, other)),
]);

function withinList({ list, start, end }: PortFields): Rule<SipServices> {
  // Another rule refuses a range that ends before it starts.
  const free = start === end ? `a.${start} == 0` : `a.${start} > a.${end}`;
  const overlap = `a.${start} <= b.${end} && b.${start} <= a.${end}`;
  return {
    cel: `!has(self.${list}) || self.${list}.all(a, ${free} || self.${list}.exists_one(b, ${overlap}))`,
    message: `the entries of ${list} must have different ports, except 0`,
    holds: (services) => {
      const ranges = listRanges(services, list);
      return ranges.every(
        (a) => a.start > a.end || ranges.filter((b) => overlaps(a, b)).length === 1,
      );
    },
  };
}

function betweenLists(one: PortFields, other: PortFields): Rule<SipServices> {
  // A range has no 0, and 0 is below every other port.
  const free = one.start === one.end ? `a.${one.start} == 0 || ` : "";
  const apart = `a.${one.start} > b.${other.end} || b.${other.start} > a.${one.end}`;
  return {
    cel:
      `!has(self.${one.list}) || !has(self.${other.list}) || ` +
      `self.${one.list}.all(a, ${free}self.${other.list}.all(b, ${apart}))`,
    message: `${one.list} and ${other.list} must have different ports, except 0`,
    holds: (services) =>
      listRanges(services, one.list).every((a) =>
        listRanges(services, other.list).every((b) => !overlaps(a, b)),
      ),
  };
}

/** The ports that are chosen by the spec. 0 lets Kubernetes choose. */
function listRanges(services: SipServices, list: keyof SipServices): PortRange[] {
  const ranges = (services[list] ?? []).map((entry) =>
    "nodePortRange" in entry ? entry.nodePortRange : { start: entry.nodePort, end: entry.nodePort },
  );
  return ranges.filter(({ start }) => start !== 0);
}

function overlaps(a: PortRange, b: PortRange): boolean {
  return a.start <= b.end && b.start <= a.end;
}
