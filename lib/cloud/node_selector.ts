/**
 * With which annotation a Service chooses the Nodes that get its traffic.
 * @module
 */
import { OWN_PREFIX } from "../core/text/label.ts";

/** Annotation of a Service: a label selector. Frozen: users write it into clusters. */
export const NODE_SELECTOR: string = `${OWN_PREFIX}load-balancer-node-selector`;
