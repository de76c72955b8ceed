/**
 * Values of initialised Nodes that the settings would change, for `landfall check`: something may rely on them. Pure.
 * @module
 */
import { joinFew } from "../../core/text/printable.ts";
import type { SettingDescription } from "../../cloud/settings/schema.ts";
import { TOPOLOGY_LABELS } from "../../controllers/words.ts";
import type { NodeChange } from "./outlook/changes.ts";
import type { NodePlan } from "./nodes.ts";
import type { CheckFinding } from "./report.ts";

/** One kind of value that settings decide. */
interface Subject {
  readonly code: string;
  /** Its name before "of 3 Nodes". */
  readonly name: string;
  /** Settings that decide it, of any cloud. */
  readonly settings: readonly string[];
  /** What would change, as `<before> to <after>`; empty when nothing would. */
  readonly list: (change: NodeChange) => readonly string[];
}

const SUBJECTS: readonly Subject[] = [
  {
    code: "addressesChange",
    name: "addresses",
    settings: [
      "addresses.mainIpAsExternal",
      "addresses.externalCIDRs",
      "addresses.exclude",
      "addresses.network",
    ],
    list: (change) => (change.what === "addresses" ? listAddressShifts(change) : []),
  },
  {
    code: "zoneChanges",
    name: "the zone",
    settings: ["zoneLabelFrom", "zones"],
    list: (change) => listLabelShifts(change, TOPOLOGY_LABELS.zone[0]),
  },
  {
    code: "regionChanges",
    name: "the region",
    settings: ["regions"],
    list: (change) => listLabelShifts(change, TOPOLOGY_LABELS.region[0]),
  },
  {
    code: "instanceTypeChanges",
    name: "the instance type",
    settings: ["instanceTypeTag"],
    list: (change) => listLabelShifts(change, TOPOLOGY_LABELS.instanceType[0]),
  },
];

/** Most Nodes that are named; the others are counted, and are listed below with all their changes. */
const NAMED_MAX = 3;

/**
 * Warns of values that initialised Nodes would lose or get in another form. Additions cause no warning.
 *
 * @param settings All settings of this cloud: the advice names no others
 */
export function listShifts(
  nodes: readonly Pick<NodePlan, "name" | "changes">[],
  settings: readonly Pick<SettingDescription, "path">[],
): CheckFinding[] {
  const inUse = nodes.filter(({ changes }) => !changes.some(({ what }) => what === "initialise"));
  return SUBJECTS.flatMap((subject) => {
    const shifts = inUse.flatMap(({ name, changes }) => {
      const found = changes.flatMap(subject.list);
      return found.length === 0 ? [] : [`${name}: ${found.join(", ")}`];
    });
    return shifts.length === 0 ? [] : [toFinding(subject, shifts, settings)];
  });
}

function toFinding(
  subject: Subject,
  shifts: readonly string[],
  settings: readonly Pick<SettingDescription, "path">[],
): CheckFinding {
  const count = shifts.length === 1 ? "1 Node" : `${shifts.length} Nodes`;
  const deciding = subject.settings.filter((path) => settings.some((one) => one.path === path));
  const where = deciding.length === 0 ? "" : `; these settings decide: ${deciding.join(", ")}`;
  return {
    level: "warning",
    code: subject.code,
    message: `${subject.name} of ${count} would change: ${joinFew(shifts, NAMED_MAX)}`,
    advice: `if something relies on these values, change the settings before you start Landfall${where}`,
  };
}

/** For each address of the Node, its types before and after. */
function listAddressShifts({
  before,
  addresses,
}: Extract<NodeChange, { what: "addresses" }>): string[] {
  const [had, would] = [groupTypes(before), groupTypes(addresses)];
  return [...had].flatMap(([address, types]) => {
    const [from, to] = [types, would.get(address) ?? []].map((all) => all.toSorted().join(" and "));
    return from === to ? [] : [`${address} from ${from} to ${to || "nothing"}`];
  });
}

/** Types by address, of texts such as `InternalIP 10.0.0.1`. */
function groupTypes(texts: readonly string[]): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const text of texts) {
    const [type = "", address = ""] = text.split(" ");
    groups.set(address, [...(groups.get(address) ?? []), type]);
  }
  return groups;
}

function listLabelShifts(change: NodeChange, key: string): string[] {
  if (change.what !== "labels") return [];
  const [from, to] = [change.before[key], change.labels[key]];
  return from === undefined || to === undefined || from === to ? [] : [`from ${from} to ${to}`];
}
