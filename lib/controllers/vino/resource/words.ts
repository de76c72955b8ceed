/**
 * The conditions of Vinos and their reasons. The words never change. `Ready` and its first reasons are those of the
 * original operator.
 * @module
 */
import { no, type ReasonWord, yes } from "../../kinds/words.ts";

/** The types of conditions, in their order. */
export type ConditionType = keyof ConditionWords;

/** How the machines of a Vino are, by a name for code. */
export type MachinesWord =
  | "done"
  | "waiting"
  | "invalid"
  | "formMissing"
  | "noCapability"
  | "silent"
  | "noPool"
  | "noHosts"
  | "blocked"
  | "noAddress"
  | "addressesDiffer"
  | "poolsRefused"
  | "objectRefused"
  | "forbidden"
  | "failed"
  | "tooMany";

/** The reasons of all conditions, by a name for code, in the order of the reference page. */
type ConditionWords = {
  readonly Ready: Readonly<
    Record<
      "fleetLimit" | "hosts" | "hostsInUse" | "inUse" | "noCredentials" | MachinesWord,
      ReasonWord
    >
  >;
  readonly MachinesReady: Readonly<Record<MachinesWord, ReasonWord>>;
  readonly HostsPublished: Readonly<
    Record<"done" | "waiting" | "refused" | "nameTaken" | "paused" | "noCredentials", ReasonWord>
  >;
  readonly HostsHealthy: Readonly<Record<"all" | "some", ReasonWord>>;
  readonly UnsupportedFields: Readonly<Record<"some" | "none", ReasonWord>>;
  readonly CredentialsInClearText: Readonly<Record<"some" | "none", ReasonWord>>;
  readonly MachinesDiffer: Readonly<Record<"some" | "stop" | "none", ReasonWord>>;
  readonly ContractionBlocked: Readonly<Record<"inUse" | "fleetLimit" | "free", ReasonWord>>;
};

const PROGRESSING = "Progressing";
const BMC_FAILURE = "BmcCredentialsUnusable";
const HOST_FAILURE = "UnableToPublishHosts";
const HOSTS_IN_USE = "HostsInUse";
const FLEET_LIMIT = "FleetLimit";

/** Why machines are not ready: `Ready` says the same. */
const MACHINES_NOT_READY: Readonly<Record<Exclude<MachinesWord, "done" | "waiting">, ReasonWord>> =
  {
    invalid: no(
      "InvalidSpec",
      "Landfall cannot use the spec. The message names each field. Nothing is changed.",
    ),
    formMissing: no(
      "MachineFormMissing",
      "Roles lack template, cpus or memory of xenOrchestra. The message names each missing field.",
    ),
    noCapability: no("CloudWithoutMachines", "The cloud cannot make machines."),
    silent: no(
      "CloudUnreachable",
      "The cloud does not answer, or does not show enough. Nothing is changed until it does.",
    ),
    noPool: no(
      "PoolNotFound",
      "The cloud shows no pool that the spec names, or several. The message lists the pools. Nothing is changed.",
    ),
    noHosts: no(
      "HostsNotFound",
      "The pool shows no host with an ID, a name or a tag of xenOrchestra.hosts. The message names them.",
    ),
    blocked: no(
      "DecisionNeeded",
      "Something in the cloud stands in the way, and a person must decide about it. The message names it.",
    ),
    noAddress: no(
      "AddressesExhausted",
      "A network has no free address for a machine. The message names the network.",
    ),
    addressesDiffer: no(
      "AddressesDiffer",
      "Machines have other addresses than the spec gives them: an interface changed its network, or a network its " +
        "subnet. Landfall leaves these machines as they are. The message names each with what to do.",
    ),
    poolsRefused: no(
      "IPPoolFailure",
      "Kubernetes refuses the IPPools, for example because their namespace does not exist. The message says what " +
        "to do. Nothing is changed until then.",
    ),
    objectRefused: no(
      "VinoMachineFailure",
      "Kubernetes refuses the VinoMachine of a machine. The message names it, with the answer of the API server. " +
        "Nothing is done for that machine until that ends.",
    ),
    forbidden: no(
      "Forbidden",
      "Landfall has no right to something that it needs in the namespace of the Vino, or a quota or an admission " +
        "plugin refuses it. The message names it. Nothing is changed until then.",
    ),
    failed: no(
      "MachineFailure",
      "The cloud refuses a machine as the spec asks for it. Landfall tries again.",
    ),
    tooMany: no(
      "TooManyMachines",
      "The counts and the hosts make more machines than a Vino may have. Nothing is changed.",
    ),
  };

/** All conditions. */
export const CONDITION_WORDS: ConditionWords = {
  Ready: {
    done: yes(
      "ReconciliationSucceeded",
      "All machines are complete, and each is published as a BareMetalHost. No other one waits for its removal.",
    ),
    waiting: no(PROGRESSING, "Machines or hosts are made, changed or removed."),
    ...MACHINES_NOT_READY,
    hosts: no(HOST_FAILURE, "A host cannot be published. The message of HostsPublished says why."),
    noCredentials: no(
      BMC_FAILURE,
      "Hosts get no management controller. The message of HostsPublished says why.",
    ),
    hostsInUse: no(
      HOSTS_IN_USE,
      "All wanted machines are ready. Others stay, because their hosts are in use. The message names them.",
    ),
    fleetLimit: no(
      FLEET_LIMIT,
      "All wanted machines are ready. Others stay until a person confirms their removal.",
    ),
    inUse: no(
      "UnableToDecommission",
      "The Vino is being deleted, and something stops that. The message names it: mostly hosts in use.",
    ),
  },
  MachinesReady: {
    done: yes("AllMachinesReady", "All machines that the spec wants are complete."),
    waiting: no(PROGRESSING, "Machines are made, changed or removed."),
    ...MACHINES_NOT_READY,
  },
  HostsPublished: {
    done: yes("AllHostsPublished", "Each complete machine has its BareMetalHost."),
    waiting: no(PROGRESSING, "Hosts are published when their machines are complete."),
    refused: no(HOST_FAILURE, "The API server refuses a BareMetalHost or a Secret of it."),
    nameTaken: no("NameTaken", "An object of the same name belongs to something else."),
    paused: no(
      "HostsPaused",
      "A user or another program paused a host, for example clusterctl move. Landfall leaves it alone until that ends.",
    ),
    noCredentials: no(
      BMC_FAILURE,
      "Hosts exist, and get no management controller, because bmcCredentials cannot be used. The message says why.",
    ),
  },
  HostsHealthy: {
    all: yes("NoHostInError", "metal3 reports no error of a host."),
    some: no(
      "HostsInError",
      "metal3 reports an error of a host. The message names the host, and has metal3's own message. Ready says " +
        "nothing about it.",
    ),
  },
  UnsupportedFields: {
    some: yes(
      "FieldsWithoutMeaning",
      "The spec has fields that only the original operator with libvirt could use, or labels that only " +
        "Landfall sets. The message names them.",
    ),
    none: no("AllFieldsUsed", "The spec has no such fields."),
  },
  CredentialsInClearText: {
    some: yes(
      "PasswordInSpec",
      "The password of management controllers is in the spec. Everyone who may read the Vino knows it.",
    ),
    none: no("NoPasswordInSpec", "The spec has no password."),
  },
  MachinesDiffer: {
    some: yes(
      "PersonNeeded",
      "Complete machines or their BareMetalHosts are not as the spec says, and Landfall does not change that by " +
        "itself. The message names each with what is wanted, what it has, and what to do.",
    ),
    stop: yes(
      "StopNeeded",
      "Complete machines must be stopped before they can become as the spec says. The message names each.",
    ),
    none: no(
      "NothingDiffers",
      "Complete machines are as the spec says, as far as Landfall looked.",
    ),
  },
  ContractionBlocked: {
    inUse: yes(
      HOSTS_IN_USE,
      "There are more machines than the spec wants, and their hosts are in use. Landfall keeps them, and names them.",
    ),
    fleetLimit: yes(
      FLEET_LIMIT,
      "An edit or a deletion would remove so many machines at once that a person must confirm it. Landfall keeps them.",
    ),
    free: no("NothingBlocked", "There is no machine that the spec does not want."),
  },
};

/** The reasons of all conditions, by a name for code, in the order of the reference page. */
type MachineConditionWords = {
  readonly Made: Readonly<Record<"done" | "waiting" | "silent", ReasonWord>>;
  readonly Complete: Readonly<
    Record<"done" | "waiting" | "blocked" | "failed" | "silent", ReasonWord>
  >;
  readonly Published: Readonly<
    Record<
      "done" | "waiting" | "refused" | "nameTaken" | "paused" | "leaving" | "noCredentials",
      ReasonWord
    >
  >;
  readonly Differs: Readonly<Record<"some" | "stop" | "blocked" | "failed" | "none", ReasonWord>>;
  readonly Removed: Readonly<Record<"wanted" | "removing" | "kept", ReasonWord>>;
};

const MACHINE_PROGRESSING = "Progressing";
const SILENT = "CloudUnreachable";

/** All conditions of a VinoMachine. */
export const MACHINE_CONDITION_WORDS: MachineConditionWords = {
  Made: {
    done: yes("MachineExists", "The cloud shows the VM."),
    waiting: no("NotMade", "The VM does not exist, as far as Landfall knows."),
    silent: no(SILENT, "The cloud does not say whether the VM exists."),
  },
  Complete: {
    done: yes("AllPartsMade", "The VM has its disks, its interfaces and its last mark."),
    waiting: no(MACHINE_PROGRESSING, "Landfall makes the VM or its parts, or waits for its turn."),
    blocked: no("DecisionNeeded", "A person must decide. The message says what to do."),
    failed: no("MachineFailure", "The last attempt failed. Landfall tries again."),
    silent: no(SILENT, "The cloud does not answer, or does not show enough."),
  },
  Published: {
    done: yes("HostPublished", "The VM has its BareMetalHost."),
    waiting: no(MACHINE_PROGRESSING, "The BareMetalHost is published when the VM is complete."),
    refused: no("HostRefused", "The API server refuses the BareMetalHost or a Secret of it."),
    nameTaken: no("NameTaken", "An object of the same name belongs to something else."),
    paused: no("HostPaused", "A user or another program paused or moved the BareMetalHost."),
    leaving: no("HostLeaving", "The BareMetalHost is being deleted, or in use and must go."),
    noCredentials: no(
      BMC_FAILURE,
      "The BareMetalHost exists, and gets no management controller, because bmcCredentials cannot be used.",
    ),
  },
  Differs: {
    some: yes("PersonNeeded", "The complete VM or its BareMetalHost is not as the spec says."),
    stop: yes("StopNeeded", "The VM must be stopped before it can become as the spec says."),
    blocked: yes(
      "DecisionNeeded",
      "A person must decide about the complete VM. The message says what to do.",
    ),
    failed: yes(
      "MachineFailure",
      "The last attempt to change the complete VM failed. Landfall tries again.",
    ),
    none: no("NothingDiffers", "The VM is not known to differ from the spec."),
  },
  Removed: {
    wanted: no("Wanted", "The Vino wants the machine."),
    removing: no("Unwanted", "The Vino does not want the machine. The message says how far it is."),
    kept: no("Kept", "The Vino does not want the machine, and deletionPolicy is Retain."),
  },
};
