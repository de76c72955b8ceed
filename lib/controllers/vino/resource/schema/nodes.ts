/**
 * The schema of the machines of a Vino by role.
 * @module
 */
import {
  anyFields,
  form,
  labels,
  list,
  listBy,
  object,
  optional,
  required,
  type Schema,
  text,
  trueOrFalse,
  wholeNumber,
  withRules,
} from "../../../kinds/parts.ts";
import {
  type DiskDrive,
  type NamespacedName,
  ROOT_DEVICE_NAME,
  type VinoInterface,
  type VinoNode,
} from "../vino.ts";
import { namePart } from "./fields.ts";
import { ROLE_FORM } from "./xen_orchestra.ts";

const ROLES_MAX = 32;
/** Xen has no more network interfaces for a machine. */
const INTERFACES_MAX = 16;
/** More machines of a role, or of a role on one host, are a typing error. */
const COUNT_MAX = 500;
/**
 * Names of machines are DNS labels of at most 63 characters: `vino-`, eight characters of the UID, the role and a
 * number of at most five digits, with a `-` between each.
 */
const ROLE_LENGTH_MAX = 32;
const TEXT = text(253);
const ABOUT_LIBVIRT = "Without a meaning here. Old manifests have it.";
const NAME = form(/^\S+$/, 63, "a name without blanks");

/** The schema of the name of an object and its namespace. */
export const NAMESPACED_NAME: Schema<NamespacedName> = object<NamespacedName>({
  name: optional(TEXT, "Name of the object."),
  namespace: optional(TEXT, "Namespace of the object."),
});

const INTERFACE: Schema<VinoInterface> = object<VinoInterface>({
  name: required(NAME, "Name of the interface."),
  type: optional(TEXT, "Its kind. Here every interface is on a bridge."),
  network: required(text(63), "Name of its network in spec.networks."),
  mtu: optional(wholeNumber(68, 65_535), "Its MTU in bytes. Absent: that of the network."),
  options: optional(anyFields(64), ABOUT_LIBVIRT),
});

const DRIVE: Schema<DiskDrive> = object<DiskDrive>({
  name: optional(TEXT, ABOUT_LIBVIRT),
  type: optional(TEXT, ABOUT_LIBVIRT),
  path: optional(text(4096), ABOUT_LIBVIRT),
  options: optional(
    object<NonNullable<DiskDrive["options"]>>({
      sizeGb: optional(wholeNumber(0, 2_147_483_647), ABOUT_LIBVIRT),
      sparse: optional(trueOrFalse(), ABOUT_LIBVIRT),
    }),
    ABOUT_LIBVIRT,
  ),
});

const NODE: Schema<VinoNode> = withRules(
  object<VinoNode>({
    name: required(
      namePart(ROLE_LENGTH_MAX),
      "The role, such as worker. A part of machines' names.",
    ),
    count: optional(
      wholeNumber(0, COUNT_MAX),
      "How many machines. xenOrchestra.countPer says whether on each host or on all together.",
      0,
    ),
    bmhLabels: optional(
      labels(),
      "Labels of the BareMetalHosts. They win over other labels, but only Landfall sets vino.airshipit.org/vino and " +
        "labels of landfall.dev and sip.airshipit.org: these have no effect here.",
    ),
    networkDataTemplate: optional(NAMESPACED_NAME, ABOUT_LIBVIRT),
    networkInterfaces: optional(
      listBy("name", INTERFACE, INTERFACES_MAX),
      "Network interfaces of a machine, in the order of its devices.",
    ),
    rootDeviceName: optional(
      form(/^\/dev\/\S+$/, 253, "the path of a device, such as /dev/xvda"),
      "The disk on which metal3 installs a system.",
      ROOT_DEVICE_NAME,
    ),
    bootInterfaceName: optional(
      NAME,
      "The interface whose MAC address the BareMetalHost has. Absent: the first one.",
    ),
    enableVNC: optional(trueOrFalse(), ABOUT_LIBVIRT),
    libvirtTemplate: optional(TEXT, ABOUT_LIBVIRT),
    diskDrives: optional(list(DRIVE, 64), ABOUT_LIBVIRT),
    xenOrchestra: optional(ROLE_FORM, "What differs for this role from spec.xenOrchestra."),
  }),
  [
    {
      cel:
        "!has(self.bootInterfaceName) || has(self.networkInterfaces) && " +
        "self.networkInterfaces.exists(one, one.name == self.bootInterfaceName)",
      message: "bootInterfaceName must be the name of one of networkInterfaces",
      holds: ({ bootInterfaceName, networkInterfaces = [] }) =>
        bootInterfaceName === undefined ||
        networkInterfaces.some(({ name }) => name === bootInterfaceName),
    },
  ],
);

/** The schema of `spec.nodes`. */
export const NODES: Schema<readonly VinoNode[]> = listBy("name", NODE, ROLES_MAX);
