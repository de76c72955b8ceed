/**
 * The schema of `xenOrchestra`: what machines are like, and where they are.
 * @module
 */
import {
  form,
  listBy,
  mapOf,
  object,
  objectName,
  oneOf,
  optional,
  required,
  type Schema,
  textSet,
  wholeNumber,
} from "../../../kinds/parts.ts";
import {
  BOOTS,
  COUNT_PER,
  DELETION_POLICIES,
  FAILURE_DOMAINS,
  type MachineForm,
  type SecretKey,
  type VinoDisk,
  type VinoHosts,
  type XenOrchestraBlock,
} from "../vino.ts";
import { idOrName, namePart, size } from "./fields.ts";

/** More virtual CPUs than any host has. */
const CPUS_MAX = 1024;
const DISKS_MAX = 16;
const HOSTS_MAX = 256;
/** As many as `spec.networks` may have. */
export const NETWORKS_MAX = 16;

const DISK: Schema<VinoDisk> = object<VinoDisk>({
  name: required(namePart(32), "Name of the disk, such as root."),
  size: required(size("1Mi", "64Ti"), "Size of the disk, such as 40Gi. A disk can only grow."),
  sr: optional(
    idOrName(),
    "ID or name of the storage repository. Absent: where the template has its disk, otherwise the default one of the " +
      "pool.",
  ),
});

const HOSTS: Schema<VinoHosts> = object<VinoHosts>({
  ids: optional(textSet(idOrName(), HOSTS_MAX), "IDs of hosts."),
  names: optional(textSet(idOrName(), HOSTS_MAX), "Names of hosts."),
  tags: optional(textSet(idOrName(), HOSTS_MAX), "Tags. A host has one of them."),
});

const USER_DATA: Schema<SecretKey> = object<SecretKey>({
  name: required(objectName(), "Name of a Secret in the same namespace."),
  key: optional(
    form(/^[-._a-zA-Z0-9]+$/, 253, "a key of a Secret"),
    "Its key with the user data.",
    "userData",
  ),
});

const ABOUT = {
  template: "ID or name of the template from which machines are made.",
  cpus: "Virtual CPUs of a machine.",
  memory: "Memory of a machine, such as 8Gi.",
  disks:
    "Disks of a machine. The first ones are those of the template, in their order; the others are made.",
  countPer: "Whether count is for each host, or for all hosts together.",
  boot:
    "Template: a machine starts from the disks of its template, which have an operating system. " +
    "Network: it tries the network before its disks.",
  userDataSecret: "User data for cloud-init.",
  hosts:
    "Hosts where machines start: those that any of the lists names. Absent: all hosts of the pool.",
} as const;

const FORM = {
  template: optional(idOrName(), ABOUT.template),
  cpus: optional(wholeNumber(1, CPUS_MAX), ABOUT.cpus),
  memory: optional(size("16Mi", "32Ti"), ABOUT.memory),
  disks: optional(listBy("name", DISK, DISKS_MAX), ABOUT.disks),
  userDataSecret: optional(USER_DATA, ABOUT.userDataSecret),
  hosts: optional(HOSTS, ABOUT.hosts),
} as const;

/** The schema of `spec.nodes[].xenOrchestra`. It has no defaults: they would hide what the whole Vino says. */
export const ROLE_FORM: Schema<MachineForm> = object<MachineForm>({
  ...FORM,
  countPer: optional(oneOf(COUNT_PER), ABOUT.countPer),
  boot: optional(oneOf(BOOTS), ABOUT.boot),
});

/** The schema of `spec.xenOrchestra`. */
export const XEN_ORCHESTRA: Schema<XenOrchestraBlock> = object<XenOrchestraBlock>({
  pool: optional(idOrName(), "ID or name of the pool. Absent: the only pool there is."),
  ...FORM,
  countPer: optional(oneOf(COUNT_PER), ABOUT.countPer, "Host"),
  boot: optional(oneOf(BOOTS), ABOUT.boot, "Template"),
  networks: optional(
    mapOf(idOrName(), NETWORKS_MAX),
    "By the name of a network in spec.networks: its ID or name in Xen Orchestra. Absent: the same name.",
  ),
  deletionPolicy: optional(
    oneOf(DELETION_POLICIES),
    "Delete: machines that are not wanted any more are deleted with their disks, and when the Vino is deleted, all " +
      "of them without a confirmation. Retain: they stay as they are.",
    "Retain",
  ),
  failureDomain: optional(
    oneOf(FAILURE_DOMAINS),
    "What becomes the failure domain of a host for Cluster API.",
    "None",
  ),
});
