/**
 * What every cloud controller manager should do, case by case. A test that covers one begins its title with the ID.
 * @module
 */

/** A case: what it asks, and why it cannot apply here if it cannot. */
export interface AcceptanceCase {
  /** Such as `N-01`. */
  readonly id: string;
  readonly asks: string;
  /** Present exactly when no test covers the case. */
  readonly doesNotApply?: string;
  /** A part of it that cannot apply here, though the rest is covered, and why. */
  readonly exception?: { readonly asks: string; readonly reason: string };
}

/** A group of cases that share the letter of their IDs. */
export interface AcceptanceGroup {
  readonly title: string;
  readonly cases: readonly AcceptanceCase[];
}

const NODES: readonly AcceptanceCase[] = [
  one("N-01", "One write takes the taint off and brings provider ID and labels; an Event follows."),
  one("N-02", "A Node without the taint costs no cloud call and no write but a label's repair."),
  one("N-03", "The cloud's hostname is published; if it has none, the kubelet's, at the end."),
  one("N-04", "Without an annotation, addresses stand in the order of the cloud."),
  one("N-05", "An annotated node IP comes first and drops others of its type."),
  one("N-06", "A pair of annotated node IPs, in either order, does the same."),
  one("N-07", "An annotation that cannot be read leaves taint and addresses as they are."),
  one("N-08", "An annotated IP that the cloud does not know leaves the taint."),
  one("N-09", "A provider ID that is set never changes."),
  one("N-10", "No Node is initialised without a provider ID; one that has its own keeps it."),
  one(
    "N-11",
    "An older provider that cannot tell provider IDs still initialises.",
    "The port has one form, in which every instance carries its provider ID (see N-10).",
  ),
  one("N-12", "A Node that is not this cloud's is left alone, without an error."),
  one("N-13", "A cloud that fails leaves the Node as it is, and is asked again."),
  one("N-14", "Additional labels are added, never over others, never into reserved namespaces."),
  one("N-15", "A stable label follows its beta twin; a Node that is gone is no error."),
  one("N-16", "Addresses are compared whole and in order; equal lists cost no write."),
  one("N-17", "Passes skip tainted Nodes' addresses; a cloud without addresses clears none."),
  one("N-18", "A pass asks the cloud at most once per Node: here never, as it looks at memory."),
  one("N-19", "A conflict is read again and retried; no fields of others are lost."),
  one("N-20", "A Node that is deleted during its initialisation is forgotten."),
  one("N-21", "Retries come ever later, start again after a success, and at once with an event."),
  one("N-22", "A Node that fails or hangs holds up no other, and hangs no longer than a deadline."),
  one("N-23", "Addresses are replaced whole, also several of one type."),
  one("N-24", "Annotated IPs of one and of both families end on the Node in their order."),
  one("N-25", "A failed initialisation is told in a Warning, not in a flood of them."),
  one("N-26", "A label that Kubernetes would refuse does not stop an initialisation."),
];

const LIFECYCLE: readonly AcceptanceCase[] = [
  one("L-01", "A Node that is not Ready and whose machine is gone is deleted, after an Event."),
  one("L-02", "A Node that is not Ready is kept while its machine is there."),
  one("L-03", "A cloud that fails deletes no Node and taints none."),
  one("L-04", "A Ready Node is never deleted, nor the cloud asked about it."),
  one(
    "L-05",
    "A Ready Node gets no shutdown taint, even if the cloud says that its machine is off.",
  ),
  one("L-06", "A Node that is not Ready and whose machine is off is tainted, once."),
  one("L-07", "A Node that is Ready again loses the shutdown taint, and no other."),
  one("L-08", "A machine whose state cannot be learnt gets no taint."),
  one("L-09", "A machine that was off and then went takes its Node with it."),
  {
    ...one("L-10", "A Node without a provider ID is tainted if its machine is known to be off."),
    exception: {
      asks: "An older provider that finds no machine for it deletes the Node.",
      reason: "Nothing proves that a machine is gone whose provider ID was never known.",
    },
  },
  one("L-11", "A refused deletion is told, holds up no other and is tried again."),
  one("L-12", "A conflict over taints is read again and retried; no taint of others is lost."),
  one("L-13", "Every Node is looked at once in a period, and worked on once at a time."),
  one("L-14", "A Node that is not this cloud's, or not initialised, is never deleted."),
  one("L-15", "Too many at once are not deleted, nor a Node that came again under its name."),
  one("L-16", "That the right to delete Nodes is missing is found and told."),
];

const EVENTS: readonly AcceptanceCase[] = [
  one("V-01", "Equal Events are one, with a count that grows."),
  one("V-02", "From the tenth distinct message in ten minutes on, Events are combined."),
  one("V-03", "The 26th Event on one object is dropped."),
  one("V-04", "Events on Nodes stand in the namespace default, where kubectl finds them."),
  one("V-05", "Events that are refused or get no answer hold up nothing."),
];

const WATCHES: readonly AcceptanceCase[] = [
  one("I-01", "An expired version, in a stream or when it is opened, leads to a new list."),
  one("I-02", "A bookmark moves the version on."),
  one("I-03", "A stream that is cut every moment stays consistent and never spins."),
  one("I-04", "An API server that was away is followed on, from where it was left."),
  one("I-05", "Lists come in pages; a page token that expired starts again."),
  one("I-06", "A connection that died in silence is noticed."),
  one("I-07", "A delete during a pause of the watch is reported, with the last state."),
  one("I-08", "Equal keys are merged, one worker works on a key, no update is lost."),
  one("I-09", "A listener that throws stops nothing."),
  one("I-10", "Objects in memory cannot be changed."),
];

const CLOUDS: readonly AcceptanceCase[] = [
  one("C-01", "Provider IDs are read strictly: good, foreign, malformed, too long, legacy."),
  one("C-02", "A machine is found by ID or what else it goes by; missing and failing differ."),
  one("C-03", "Only the right 404 proves absence; every other answer is none."),
  one("C-04", "Machines with all, some or no networks, one or both families, are described."),
  one("C-05", "Two machines with one name are never mistaken for each other."),
  one("C-06", "Types, zones and names become legal label values."),
  one(
    "C-07",
    "Addresses stand in a stable order, each once, and are never made up to be of both types.",
  ),
  one("C-08", "A cloud that is slow, or asks for patience, is given up on in time."),
  one("C-09", "What was remembered never makes a machine present that answers 404."),
];

const PROCESS: readonly AcceptanceCase[] = [
  one("P-01", "Every customary flag is read with its default; what is unknown is named."),
  one("P-02", "`--controllers` picks, drops and aliases as in other managers."),
  one("P-05", "Settings that are wrong end the process with all problems at once."),
  one("P-06", "No secret is ever written to a log or an error."),
  one("P-07", "SIGTERM ends the process within 5 s, and the Lease is given back."),
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
