/**
 * Nodes of CloudStack whose VMs are hard to find, or to describe.
 * @module
 */
import { isUninitialized } from "../../../../controllers/identity.ts";
import { type Step, waitForNodes } from "../../story/stage.ts";
import { isOfType } from "./places.ts";

const FQDN = "worker-fqdn.k8s.example";
const UPPER = "worker-upper";

/** The steps, in order. */
export const JOIN_STEPS: readonly Step[] = [
  {
    title: `${FQDN} and ${UPPER} match the VMs "worker-fqdn" and "Worker-Upper"`,
    play: (stage, signal) =>
      waitForNodes(
        stage,
        [FQDN, UPPER],
        signal,
        (node, { vmId }) =>
          !isUninitialized(node) && node.spec?.providerID === `external-cloudstack://${vmId}`,
      ),
  },
  {
    title: 'The service offering "Large-8 (Über)" is no label value, and its Nodes join anyway',
    play: (stage, signal) =>
      waitForNodes(
        stage,
        ["cp-1", "worker-dual"],
        signal,
        (node) => isOfType(node, "Large8ber") && !isUninitialized(node),
      ),
  },
];
