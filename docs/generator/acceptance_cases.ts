/**
 * The acceptance cases: what every cloud controller manager should do. The title of a test begins with the ID of its
 * case.
 * @module
 */

/** A case: what it requires, and why it does not apply, if it does not. */
interface AcceptanceCase {
  /** Such as `N-01`. */
  readonly id: string;
  readonly asks: string;
  /** Present exactly when no test covers the case. */
  readonly doesNotApply?: string;
  /** A part of it that does not apply, and why. */
  readonly exception?: { readonly asks: string; readonly reason: string };
}

/** A group of cases that share the letter of their IDs. */
export interface AcceptanceGroup {
  readonly title: string;
  readonly cases: readonly AcceptanceCase[];
}

const NODES: readonly AcceptanceCase[] = [
  one("N-01", "One write removes the taint and sets provider ID and labels; an Event follows."),
  one(
    "N-02",
    "A Node without the taint causes no cloud request, and no write except to repair a label.",
  ),
  one(
    "N-03",
    "The Node gets the cloud's hostname; if the cloud has none, the kubelet's stays at the end.",
  ),
  one("N-04", "Without an annotation, addresses have the order of the cloud."),
  one("N-05", "An annotated node IP comes first and replaces others of its type."),
  one("N-06", "A pair of annotated node IPs, in either order, does the same."),
  one("N-07", "An annotation that cannot be read leaves taint and addresses as they are."),
  one("N-08", "An annotated IP that the cloud does not know leaves the taint."),
  one("N-09", "A provider ID that is set never changes."),
  one("N-10", "No Node is initialised without a provider ID; one that has its own keeps it."),
  one(
    "N-11",
    "An older provider without provider IDs still initialises Nodes.",
    "Every instance of a provider has a provider ID (see N-10).",
  ),
  one("N-12", "A Node of another cloud is not changed, and causes no error."),
  one("N-13", "If the cloud fails, the Node does not change, and the cloud is asked again."),
  one("N-14", "Additional labels never replace others, and never use reserved namespaces."),
  one("N-15", "A stable label gets the value of its beta label; a deleted Node is no error."),
  one("N-16", "Addresses are compared as a whole and in order; equal lists cause no write."),
  one(
    "N-17",
    "A pass skips the addresses of tainted Nodes; a cloud without addresses removes none.",
  ),
  one("N-18", "A pass asks the cloud at most once per Node; here never, because it reads memory."),
  one(
    "N-19",
    "After a conflict the Node is read again and retried; no other writer's fields are lost.",
  ),
  one("N-20", "A Node that is deleted during its initialisation is forgotten."),
  one("N-21", "Delays between retries grow, start again after a success, and end with an event."),
  one("N-22", "A Node that fails or hangs delays no other Node, and has a deadline."),
  one("N-23", "Addresses are replaced as a whole, including several of one type."),
  one("N-24", "The Node gets annotated IPs of one or both families in their order."),
  one("N-25", "A failed initialisation causes a Warning, but not many of them."),
  one("N-26", "A label that Kubernetes would refuse does not stop an initialisation."),
];

const LIFECYCLE: readonly AcceptanceCase[] = [
  one("L-01", "A Node that is not Ready and whose machine is gone is deleted, after an Event."),
  one("L-02", "A Node that is not Ready is kept while its machine is there."),
  one("L-03", "A cloud that fails deletes no Node and taints none."),
  one("L-04", "A Ready Node is never deleted, and the cloud is not asked about it."),
  one(
    "L-05",
    "A Ready Node gets no shutdown taint, even if the cloud says that its machine is off.",
  ),
  one("L-06", "A Node that is not Ready and whose machine is off is tainted, once."),
  one("L-07", "A Node that is Ready again loses the shutdown taint, and no other."),
  one("L-08", "If the state of a machine is not known, its Node gets no taint."),
  one("L-09", "If a machine was off and is then deleted, its Node is deleted."),
  {
    ...one("L-10", "A Node without a provider ID is tainted if its machine is known to be off."),
    exception: {
      asks: "An older provider that finds no machine for it deletes the Node.",
      reason: "Without a provider ID there is no proof that a machine is gone.",
    },
  },
  one("L-11", "A refused deletion is reported, delays no other and is tried again."),
  one(
    "L-12",
    "After a conflict over taints the Node is read again and retried; no other taint is lost.",
  ),
  one("L-13", "Every Node is checked once in a period, by one worker at a time."),
  one("L-14", "A Node of another cloud, or one that is not initialised, is never deleted."),
  one("L-15", "Too many Nodes at once are not deleted, nor a new Node with the same name."),
  one("L-16", "A missing right to delete Nodes is found and reported."),
];

const EVENTS: readonly AcceptanceCase[] = [
  one("V-01", "Equal Events are combined into one with a count."),
  one("V-02", "From the tenth distinct message in ten minutes on, Events are combined."),
  one("V-03", "The 26th Event on one object is dropped."),
  one("V-04", "Events on Nodes are in the namespace default, where kubectl finds them."),
  one("V-05", "Events that are refused or get no answer delay nothing."),
];

const WATCHES: readonly AcceptanceCase[] = [
  one("I-01", "An expired version, in a stream or when it is opened, leads to a new list."),
  one("I-02", "A bookmark advances the version."),
  one(
    "I-03",
    "If a stream is cut again and again, the store stays consistent, and retries are limited.",
  ),
  one("I-04", "After an outage of the API server, a watch continues from its last version."),
  one("I-05", "Lists come in pages; a page token that expired starts again."),
  one("I-06", "A connection that is lost without being closed is noticed."),
  one("I-07", "A delete during a pause of the watch is reported, with the last state."),
  one("I-08", "Equal keys are merged, one worker works on a key, no update is lost."),
  one("I-09", "A listener that throws stops nothing."),
  one("I-10", "Objects in memory cannot be changed."),
];

const CLOUDS: readonly AcceptanceCase[] = [
  one("C-01", "Provider IDs are read strictly: good, foreign, malformed, too long, legacy."),
  one(
    "C-02",
    "A machine is found by ID or by other fields; a missing machine and a failure differ.",
  ),
  one("C-03", "Only the right 404 proves absence; every other answer is none."),
  one("C-04", "Machines with all, some or no networks, one or both families, are described."),
  one("C-05", "Two machines with the same name are never mistaken for each other."),
  one("C-06", "Types, zones and names become legal label values."),
  one(
    "C-07",
    "Addresses have a stable order, each once, and none is invented to be of both types.",
  ),
  one("C-08", "Requests to a slow cloud have a deadline, and a cloud may ask for a pause."),
  one("C-09", "Memory never makes a machine present for which the cloud answers 404."),
];

const PROCESS: readonly AcceptanceCase[] = [
  one("P-01", "Every usual flag is read with its default; unknown flags are named."),
  one("P-02", "`--controllers` picks, drops and aliases as in other managers."),
  one("P-05", "Wrong settings end the process, and all problems are reported at once."),
  one("P-06", "No secret is ever written to a log or an error."),
  one("P-07", "SIGTERM ends the process within 5 s, and the process releases the Lease."),
];

/** Every case of the controllers that exist. */
export const ACCEPTANCE_GROUPS: readonly AcceptanceGroup[] = [
  { title: "Node controller", cases: NODES },
  { title: "Lifecycle controller", cases: LIFECYCLE },
  { title: "Events", cases: EVENTS },
  { title: "Watching and queueing", cases: WATCHES },
  { title: "Clouds", cases: CLOUDS },
  { title: "Process", cases: PROCESS },
];

function one(id: string, asks: string, doesNotApply?: string): AcceptanceCase {
  return { id, asks, ...(doesNotApply === undefined ? {} : { doesNotApply }) };
}
