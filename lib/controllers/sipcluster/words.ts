/**
 * Words of the SIPCluster controller in a cluster. Those of the original operator never change.
 * @module
 */

/** Name in `--controllers`, logs and metrics. */
export const NAME = "sipcluster";
/** `source.component` of its Events, and the field manager of what it applies. */
export const COMPONENT = "landfall-sipcluster";

/** Labels of a BareMetalHost that belongs to a cluster. A host is taken if it has the name. */
export const CLUSTER_NAMESPACE = "sip.airshipit.org/cluster-namespace";
export const CLUSTER_NAME = "sip.airshipit.org/cluster-name";
export const NODE_TYPE = "sip.airshipit.org/node-type";
/** Label of a standby host, `true`. The original operator did not tell standby hosts apart. */
export const STANDBY = "sip.airshipit.org/standby";

/** The finalizer of the original operator, which its users write by hand. */
export const FINALIZER = "sip.airship.airshipit.org/finalizer";
/** Annotation `true` on a SIPCluster that is being deleted: also hosts with a consumer lose their labels. */
export const FORCE_RELEASE = "sip.airshipit.org/force-release";
