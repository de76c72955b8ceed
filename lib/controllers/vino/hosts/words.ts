/**
 * Words on the BareMetalHosts of machines and on their Secrets. Frozen: they must not change.
 * @module
 */
import { OWN_PREFIX } from "../../../core/text/label.ts";

const VINO_PREFIX = "vino.airshipit.org/";

/** Label: the name of the Vino, shortened if it is longer than a label may be. */
export const VINO_NAME: string = `${VINO_PREFIX}vino`;
/** Label: the role of the machine. */
export const ROLE: string = `${VINO_PREFIX}role`;
/** Label: the role, too. Old manifests select hosts by it, and set other values in `bmhLabels`. */
export const FLAVOR: string = `${VINO_PREFIX}flavor`;
/** Label: ID of the host in the cloud, for SIPClusters that spread their machines over hosts. */
export const HOST: string = `${VINO_PREFIX}host`;
/** Beginning of labels without a value, one for each network of the machine: `vino.airshipit.org/network.oam`. */
export const NETWORK_PREFIX: string = `${VINO_PREFIX}network.`;
/** Label by which the metal3 provider of Cluster API prefers hosts. */
export const FAILURE_DOMAIN = "infrastructure.cluster.x-k8s.io/failure-domain";

/** Annotation: the name of the machine in the cloud. */
export const MACHINE_NAME: string = `${OWN_PREFIX}machine`;
/** Annotation: the cloud's ID of the machine. A host of another machine must be made again. */
export const MACHINE_ID: string = `${OWN_PREFIX}machine-id`;
/** Annotation: keys of labels that Landfall set from the Vino or from tags, with commas. Only these are removed. */
export const LABELS_RECORD: string = `${OWN_PREFIX}labels-from-vino`;
/** Annotation `true` on a Vino: no other cluster has hosts that were moved away, so they are made again here. */
export const PUBLISH_AGAIN: string = `${OWN_PREFIX}publish-moved-hosts`;
