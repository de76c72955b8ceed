/**
 * The conditions of a Vino that follow from its spec alone.
 * @module
 */
import { type Finding as AnyFinding, findUnsupported, toFinding } from "../../kinds/conditions.ts";
import { describeProblems, type SpecProblem } from "../../kinds/problems.ts";
import {
  type VinoSpec,
  BRIDGE_GATEWAY,
  type VinoInterface,
  type VinoNetwork,
  type VinoNode,
} from "./vino.ts";
import { CONDITION_WORDS, type ConditionType } from "./words.ts";
import { parseCidr } from "../../../core/net/ip.ts";
import { isReservedForLandfall } from "../hosts/labels.ts";

/** A condition without its time. */
export type Finding = AnyFinding<ConditionType>;

const { Ready, MachinesReady, UnsupportedFields, CredentialsInClearText } = CONDITION_WORDS;

/** The conditions that change if the spec cannot be used; the others stay. */
export function listInvalidFindings(problems: readonly SpecProblem[]): readonly Finding[] {
  const message = describeProblems(problems);
  return [
    toFinding("Ready", Ready.invalid, message),
    toFinding("MachinesReady", MachinesReady.invalid, message),
  ];
}

/** The conditions that change if a role does not say what its machines are like; the others stay. */
export function listIncompleteFindings(missing: readonly SpecProblem[]): readonly Finding[] {
  const message = describeProblems(missing);
  return [
    toFinding("Ready", Ready.formMissing, message),
    toFinding("MachinesReady", MachinesReady.formMissing, message),
  ];
}

/** What is worth knowing about a right spec, even if its machines cannot be made. */
export function listSpecFindings(spec: VinoSpec): readonly Finding[] {
  return [findUnsupported(UnsupportedFields, listUnsupportedFields(spec)), findClearText(spec)];
}

function findClearText({ bmcCredentials }: VinoSpec): Finding {
  if (bmcCredentials?.password === undefined) {
    return toFinding(
      "CredentialsInClearText",
      CredentialsInClearText.none,
      "The spec has no password",
    );
  }
  const message =
    "Everyone who may read this object knows the password: put it into a Secret, and name that in " +
    "spec.bmcCredentials.secretRef";
  return toFinding("CredentialsInClearText", CredentialsInClearText.some, message);
}

const OF_SPEC = [
  "nodeSelector",
  "configuration",
  "daemonSetOptions",
  "pxeBootImageHost",
  "pxeBootImageHostPort",
] as const satisfies readonly (keyof VinoSpec)[];
const OF_NETWORK = [
  "dhcpAllocationStart",
  "dhcpAllocationStop",
  "instanceSubnetBitStep",
  "physicalInterface",
  "libvirtTemplate",
  "bridgeName",
] as const satisfies readonly (keyof VinoNetwork)[];
const OF_NODE = [
  "networkDataTemplate",
  "enableVNC",
  "libvirtTemplate",
  "diskDrives",
] as const satisfies readonly (keyof VinoNode)[];
/** Every interface is on a bridge, so this kind is what machines get. */
const BRIDGE = "bridge";

/**
 * Lists the fields of a spec that have no effect, in the order of the spec: `spec.networks[0].bridgeName`.
 *
 * @param spec A right one
 */
export function listUnsupportedFields(spec: VinoSpec): string[] {
  const { networks = [], nodes = [], nodeLabelKeysToCopy: keys = [] } = spec;
  return [
    ...listSet(spec, OF_SPEC, "spec"),
    ...keys.flatMap((key, at) =>
      isReservedForLandfall(key) ? [`spec.nodeLabelKeysToCopy[${at}]`] : [],
    ),
    ...networks.flatMap((one, at) => listOfNetwork(one, `spec.networks[${at}]`)),
    ...nodes.flatMap((one, at) => listOfNode(one, `spec.nodes[${at}]`)),
  ];
}

function listOfNetwork(network: VinoNetwork, path: string): string[] {
  const { type, subnet, routes = [] } = network;
  const family = subnet === undefined ? undefined : parseCidr(subnet)?.family;
  return [
    // The kind of addresses is that of the subnet.
    ...(type === undefined || type === `ipv${family}` ? [] : [`${path}.type`]),
    ...listSet(network, OF_NETWORK, path),
    ...routes.flatMap(({ gateway }, at) =>
      gateway === BRIDGE_GATEWAY ? [`${path}.routes[${at}]`] : [],
    ),
  ];
}

function listOfNode(node: VinoNode, path: string): string[] {
  const { networkInterfaces = [], bmhLabels = {} } = node;
  const labels = Object.keys(bmhLabels).filter(isReservedForLandfall);
  return [
    ...labels.map((key) => `${path}.bmhLabels[${key}]`),
    ...networkInterfaces.flatMap((one, at) =>
      listOfInterface(one, `${path}.networkInterfaces[${at}]`),
    ),
    ...listSet(node, OF_NODE, path),
  ];
}

function listOfInterface({ type = BRIDGE, options }: VinoInterface, path: string): string[] {
  return [
    ...(type === BRIDGE ? [] : [`${path}.type`]),
    ...(options === undefined ? [] : [`${path}.options`]),
  ];
}

function listSet<T extends object>(
  value: T,
  keys: readonly (keyof T & string)[],
  path: string,
): string[] {
  return keys.filter((key) => value[key] !== undefined).map((key) => `${path}.${key}`);
}
