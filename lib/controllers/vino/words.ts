/**
 * Words of the Vino controller in a cluster. Frozen: they must not change.
 * @module
 */
import { OWN_PREFIX } from "../../core/text/label.ts";
import type { EventWord } from "../../kube/events/words.ts";

/** Name in `--controllers`, logs and metrics. */
export const NAME = "vino";
/** `source.component` of its Events, and the field manager of what it applies. */
export const COMPONENT = "landfall-vino";
/** The Lease of the process that works on Vinos. */
export const LEASE = "landfall-vino";
/** The finalizer of the original operator. */
export const FINALIZER = "vino.airshipit.org";
/**
 * Annotation on a Vino: the generation whose spec may remove more machines at once than `deletion.fleetShare` allows.
 */
export const CONFIRMED_REMOVAL: string = `${OWN_PREFIX}confirm-removal`;
/** Annotation on a Vino: IDs of pools that are gone for good with all their machines, as a person knows. */
export const GONE_POOLS: string = `${OWN_PREFIX}gone-pools`;

type EventName =
  | "machineCreated"
  | "machineChanged"
  | "machineReady"
  | "machineVanished"
  | "machineRemoved"
  | "machineForgotten"
  | "machineKept"
  | "machineFailed"
  | "machineBlocked"
  | "machineDiffers"
  | "deletionWaits"
  | "hostDiffers"
  | "hostVanished"
  | "hostTaken"
  | "bmcCredentialsUnusable"
  | "bootOverrideStuck"
  | "contractionBlocked"
  | "invalidSpec"
  | "formMissing"
  | "cloudSilent"
  | "cloudBack"
  | "noPool"
  | "noHosts"
  | "noAddress"
  | "addressesDiffer"
  | "poolsRefused"
  | "objectRefused"
  | "forbidden"
  | "poolVanished"
  | "tooMany"
  | "ready"
  | "removalBlocked";

/** The Events. */
export const EVENT_WORDS: Readonly<Record<EventName, EventWord>> = {
  machineCreated: {
    reason: "MachineCreated",
    type: "Normal",
    meaning: "Landfall has begun to make a machine of the Vino.",
  },
  machineChanged: {
    reason: "MachineChanged",
    type: "Normal",
    meaning:
      "Landfall changed a machine: it followed the spec, put back what a person had changed, or started it for the " +
      "first time. The message names the step.",
  },
  machineReady: {
    reason: "MachineReady",
    type: "Normal",
    meaning: "A machine of the Vino is complete.",
  },
  machineVanished: {
    reason: "MachineVanished",
    type: "Warning",
    meaning:
      "A complete machine of the Vino does not exist any more, and Landfall did not remove it. Landfall makes it " +
      "again if no object uses its BareMetalHost.",
  },
  machineRemoved: {
    reason: "MachineRemoved",
    type: "Normal",
    meaning: "Landfall removed a machine that the Vino does not want any more, with its disks.",
  },
  machineForgotten: {
    reason: "MachineForgotten",
    type: "Warning",
    meaning:
      "Landfall forgets a machine and gives its addresses back, because a person said by the annotation " +
      "landfall.dev/gone-pools that its pool is gone for good.",
  },
  machineKept: {
    reason: "MachineKept",
    type: "Normal",
    meaning:
      "The Vino does not want a machine any more, or the Vino ends. The machine stays in the cloud, because " +
      "deletionPolicy is Retain. The message names it.",
  },
  machineFailed: {
    reason: "MachineFailure",
    type: "Warning",
    meaning: "A machine cannot be made as the spec asks. Landfall tries again.",
  },
  machineBlocked: {
    reason: "DecisionNeeded",
    type: "Warning",
    meaning:
      "Something prevents the work on a machine, and a person must decide about it. The message says what to do.",
  },
  machineDiffers: {
    reason: "MachineDiffers",
    type: "Warning",
    meaning:
      "A complete machine is not as the spec says: a person changed it in the cloud, or it must be stopped first. " +
      "The message says what is wanted, what it has, and what to do.",
  },
  deletionWaits: {
    reason: "DeletionWaits",
    type: "Warning",
    meaning:
      "Something deletes a VinoMachine whose machine the Vino wants, or may exist. Landfall keeps the object until " +
      "nothing of the machine is left. The message says how to remove the machine.",
  },
  hostDiffers: {
    reason: "HostDiffers",
    type: "Warning",
    meaning:
      "A BareMetalHost of the Vino has another bootMACAddress or bmc.address than its machine, and metal3 does not " +
      "let it change. The message says what is wanted, what it has, and what to do.",
  },
  hostVanished: {
    reason: "HostVanished",
    type: "Warning",
    meaning:
      "A BareMetalHost of the Vino did not exist any more, and Landfall did not remove it. Landfall made it again.",
  },
  hostTaken: {
    reason: "UnableToPublishHosts",
    type: "Warning",
    meaning:
      "A machine cannot be published: the API server refuses its BareMetalHost or a Secret, or another program or " +
      "Vino has one of that name. The message says which.",
  },
  bmcCredentialsUnusable: {
    reason: "BmcCredentialsUnusable",
    type: "Warning",
    meaning:
      "Hosts of the Vino get no management controller, because bmcCredentials cannot be used. The message says why.",
  },
  bootOverrideStuck: {
    reason: "BootOverrideStuck",
    type: "Warning",
    meaning:
      "A machine would start from the device of a boot override that is over, because the cloud does not let " +
      "Landfall undo it. Its management controller refuses to start it until then. The message says what to do.",
  },
  contractionBlocked: {
    reason: "ContractionBlocked",
    type: "Warning",
    meaning:
      "Landfall keeps machines that the Vino does not want any more: their hosts are in use, or there are too " +
      "many of them to remove at once.",
  },
  invalidSpec: {
    reason: "InvalidSpec",
    type: "Warning",
    meaning: "Landfall cannot use the spec. The message names each field. Nothing is changed.",
  },
  formMissing: {
    reason: "MachineFormMissing",
    type: "Warning",
    meaning: "The spec does not say what machines are like. The message names each missing field.",
  },
  cloudSilent: {
    reason: "CloudUnreachable",
    type: "Warning",
    meaning:
      "The cloud does not answer any more, or does not show enough. Landfall changes nothing until it does. There is " +
      "one such Event when that begins.",
  },
  cloudBack: {
    reason: "CloudReachable",
    type: "Normal",
    meaning: "The cloud answers again after CloudUnreachable.",
  },
  noPool: {
    reason: "PoolNotFound",
    type: "Warning",
    meaning:
      "The cloud shows no pool that the spec names, or several. The message lists the pools.",
  },
  noHosts: {
    reason: "HostsNotFound",
    type: "Warning",
    meaning:
      "The pool shows no host with an ID, a name or a tag of xenOrchestra.hosts. The message names them.",
  },
  noAddress: {
    reason: "AddressesExhausted",
    type: "Warning",
    meaning: "A network has no free address for a machine. The message names the network.",
  },
  addressesDiffer: {
    reason: "AddressesDiffer",
    type: "Warning",
    meaning:
      "Machines have other addresses than the spec gives them: an interface changed its network, or a network its " +
      "subnet. Landfall leaves these machines as they are. The message names each with what to do.",
  },
  poolsRefused: {
    reason: "IPPoolFailure",
    type: "Warning",
    meaning:
      "Kubernetes refuses the IPPools, for example because the namespace of --ip-pool-namespace does not exist. The " +
      "message says what to do. Nothing is changed until then.",
  },
  objectRefused: {
    reason: "VinoMachineFailure",
    type: "Warning",
    meaning:
      "Kubernetes refuses the VinoMachine of a machine. The message names it, with the answer of the API server. " +
      "Nothing is done for that machine until that ends.",
  },
  forbidden: {
    reason: "Forbidden",
    type: "Warning",
    meaning:
      "Landfall has no right to something that it needs in the namespace of the Vino, or a quota or an admission " +
      "plugin refuses it. The message names it.",
  },
  poolVanished: {
    reason: "IPPoolVanished",
    type: "Warning",
    meaning:
      "An IPPool did not exist any more, or did not list addresses that machines of the Vino have. Landfall did not " +
      "remove them, and wrote them again.",
  },
  tooMany: {
    reason: "TooManyMachines",
    type: "Warning",
    meaning:
      "The counts and the hosts make more machines than a Vino may have. Nothing is changed.",
  },
  ready: {
    reason: "ReconciliationSucceeded",
    type: "Normal",
    meaning: "All machines of the Vino are complete, and each is published as a BareMetalHost.",
  },
  removalBlocked: {
    reason: "UnableToDecommission",
    type: "Warning",
    meaning: "The Vino is being deleted, and something prevents that. The message names it.",
  },
};
