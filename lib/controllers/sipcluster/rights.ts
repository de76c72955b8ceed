/**
 * Rights that the SIPCluster controller needs in addition to those of every controller.
 * @module
 */
import type { Right } from "../../kube/access/rights.ts";

/** All of them. */
export const RIGHTS: readonly Right[] = [];
