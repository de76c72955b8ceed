/**
 * The labels of the BareMetalHost of a machine: where it is, what it is for, and what the Vino adds. Pure.
 * @module
 */
import type { Machine, MachineHost, MachineOwner } from "../../../cloud/capabilities/machines.ts";
import { isLabelValue, shortenName, isWithin, OWN_PREFIX } from "../../../core/text/label.ts";
import { quote, shorten } from "../../../core/text/printable.ts";
import { VINO_UID } from "../../../kube/kinds/bare_metal_host.ts";
import { toInstanceLabels } from "../../instance_labels.ts";
import { TOPOLOGY_LABELS } from "../../words.ts";
import type { XenOrchestraBlock } from "../resource/vino.ts";
import { FAILURE_DOMAIN, FLAVOR, HOST, NETWORK_PREFIX, ROLE, VINO_NAME } from "./words.ts";

/** What the labels of one host come from. */
export interface LabelSource {
  readonly owner: MachineOwner;
  readonly role: string;
  /** Names of its networks in the Vino. */
  readonly networks: readonly string[];
  /** Of the role. @default {none} */
  readonly bmhLabels?: Readonly<Record<string, string>> | undefined;
  /** Of the Vino. @default {none} */
  readonly nodeLabelKeysToCopy?: readonly string[] | undefined;
  /** Of the Vino. @default {None} */
  readonly failureDomain?: XenOrchestraBlock["failureDomain"] | undefined;
  readonly machine: Pick<Machine, "poolId" | "hostId" | "firstHostId" | "instance">;
  /** The hosts of the cloud that are shown. */
  readonly hosts: readonly Pick<MachineHost, "id" | "tags">[];
}

/** The labels that a host must have. */
export interface HostLabels {
  readonly values: Readonly<Record<string, string>>;
  /**
   * Keys whose value is not known now, for example because the machine is off: a host keeps the value that it has. If
   * it has none, it gets the one in `values`, if there is one.
   */
  readonly unknown: ReadonlySet<string>;
  /**
   * Keys that come from the spec or from tags. Landfall records that it set them, removes them when they are not wanted
   * any more, and leaves a label that something else set first.
   */
  readonly recorded: ReadonlySet<string>;
  /** One sentence without a full stop for each label that a user asks for and that cannot be set. */
  readonly notices: readonly string[];
}

const NAME_LENGTH_MAX = 63;
const SHOWN_MAX = 80;

/**
 * The labels of a host. Those of the role win over tags, and tags over what Landfall knows by itself; whose the host is
 * cannot be changed by either.
 */
export function toHostLabels(source: LabelSource): HostLabels {
  const values = new Map<string, string>();
  const unknown = new Set<string>();
  const recorded = new Set<string>();
  const notices: string[] = [];
  addPlace(source, values, unknown);
  for (const network of source.networks) values.set(toNetworkLabel(network), "");
  values.set(ROLE, source.role).set(FLAVOR, source.role);
  addFailureDomain(source, { values, unknown, recorded });
  addTags(source, { values, unknown, recorded, notices });
  for (const [key, value] of Object.entries(source.bmhLabels ?? {})) {
    if (isReservedForLandfall(key)) notices.push(`bmhLabels has ${key}, which only Landfall sets`);
    else {
      values.set(key, value);
      unknown.delete(key);
      recorded.add(key);
    }
  }
  values.set(VINO_NAME, shortenName(source.owner.name)).set(VINO_UID, source.owner.uid);
  return { values: Object.fromEntries(values), unknown, recorded, notices };
}

/** The label that says that a machine has an interface in a network. */
export function toNetworkLabel(network: string): string {
  const [prefix = "", start = ""] = NETWORK_PREFIX.split("/");
  const name = `${start}${network}`;
  return `${prefix}/${name.length <= NAME_LENGTH_MAX ? name : shortenName(name)}`;
}

/** Whether a label says that a machine has an interface in a network. */
export function isNetworkLabel(key: string): boolean {
  return key.startsWith(NETWORK_PREFIX);
}

type Found = Pick<HostLabels, "unknown" | "recorded"> & {
  readonly values: Map<string, string>;
  readonly unknown: Set<string>;
  readonly recorded: Set<string>;
};

/** Region, zone, type and what else Nodes of such a machine get, without the old names, which hosts never had. */
function addPlace(
  { machine }: LabelSource,
  values: Map<string, string>,
  unknown: Set<string>,
): void {
  const { instance, hostId, firstHostId } = machine;
  const { topology, additional } = instance
    ? toInstanceLabels(instance)
    : { topology: {}, additional: {} };
  const known: Readonly<Record<string, string>> = topology;
  for (const [key, value] of Object.entries(additional)) {
    values.set(key, value);
    // A machine that is off may start elsewhere.
    if (hostId === undefined) unknown.add(key);
  }
  for (const [kind, [key]] of Object.entries(TOPOLOGY_LABELS)) {
    const value = known[key];
    if (value !== undefined) values.set(key, value);
    if (value === undefined || (kind === "zone" && hostId === undefined)) unknown.add(key);
  }
  const host = hostId ?? firstHostId;
  if (host !== undefined && isLabelValue(host)) values.set(HOST, host);
  if (hostId === undefined) unknown.add(HOST);
}

function addFailureDomain(
  { failureDomain = "None", machine }: LabelSource,
  { values, unknown, recorded }: Found,
): void {
  if (failureDomain === "None") return;
  const isKnown = failureDomain === "Pool" || machine.hostId !== undefined;
  const value = failureDomain === "Pool" ? machine.poolId : (machine.hostId ?? machine.firstHostId);
  recorded.add(FAILURE_DOMAIN);
  if (value !== undefined && isLabelValue(value)) values.set(FAILURE_DOMAIN, value);
  if (!isKnown) unknown.add(FAILURE_DOMAIN);
}

function addTags(source: LabelSource, found: Found & { readonly notices: string[] }): void {
  const { machine, hosts, nodeLabelKeysToCopy: keys = [] } = source;
  const { values, unknown, recorded, notices } = found;
  const hostId = machine.hostId ?? machine.firstHostId;
  const host = hosts.find(({ id }) => id === hostId);
  for (const key of keys) {
    if (isReservedForLandfall(key)) {
      notices.push(`nodeLabelKeysToCopy has ${key}, which only Landfall sets`);
      continue;
    }
    recorded.add(key);
    // A machine that is off may start elsewhere.
    if (host === undefined || machine.hostId === undefined) unknown.add(key);
    if (host === undefined) continue;
    const tagged = readTag(host.tags, key);
    if (tagged.kind === "value") values.set(key, tagged.value);
    if (tagged.kind === "unclear") unknown.add(key);
    if (tagged.kind !== "value") notices.push(`host ${host.id} ${tagged.why}`);
  }
}

/** What the tags `key=value` of a host say about one key. */
type TagReading =
  | { readonly kind: "value"; readonly value: string }
  | { readonly kind: "missing" | "unclear"; readonly why: string };

function readTag(tags: readonly string[], key: string): TagReading {
  const prefix = `${key}=`;
  const found = new Set(
    tags.filter((tag) => tag.startsWith(prefix)).map((tag) => tag.slice(prefix.length)),
  );
  const [value, ...others] = found;
  if (value === undefined)
    return { kind: "missing", why: `has no tag ${prefix}…, so its machines have no label ${key}` };
  if (others.length > 0) return { kind: "unclear", why: `has several tags ${prefix}…: keep one` };
  if (isLabelValue(value)) return { kind: "value", value };
  const shown = quote(shorten(value, SHOWN_MAX));
  return { kind: "missing", why: `has a tag ${prefix}… whose value ${shown} is no label value` };
}

/** Labels of SIPClusters say whose a host is: no Vino gives hosts away. */
const CLAIM_DOMAINS = ["sip.airshipit.org"];
const OWN_DOMAIN = OWN_PREFIX.slice(0, -1);

/** Whether only Landfall sets a label. */
export function isReservedForLandfall(key: string): boolean {
  const [domain = ""] = key.split("/");
  return key === VINO_NAME || isWithin(domain, [OWN_DOMAIN, ...CLAIM_DOMAINS]);
}
