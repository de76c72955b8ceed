/**
 * What the out-of-service controller would do to a Node, for `landfall check`. Pure.
 *
 * The controller acts on several observations and a direct answer of the cloud. One look gives neither, so that each
 * change says what is still needed.
 * @module
 */
import type { ProvenOff } from "../../../cloud/capabilities/proven_off.ts";
import type { DeletionSettings } from "../../../cloud/deletion/guard.ts";
import type { OutOfServiceSettings } from "../../../cloud/deletion/streak.ts";
import type { Inventory } from "../../../cloud/inventory/inventory.ts";
import type { Presence } from "../../../cloud/provider.ts";
import {
  OUT_OF_SERVICE_RECORD,
  OUT_OF_SERVICE_TAINT,
} from "../../../controllers/fleet/out_of_service.ts";
import { isKubeletReporting, toIdentity } from "../../../controllers/identity.ts";
import { planOutOfService, planReturn } from "../../../controllers/node_out_of_service/plan.ts";
import { formatDuration } from "../../../core/text/values.ts";
import type { Node } from "../../../kube/kinds/node.ts";

/** A change of the taint, or of Landfall's record of it. */
export type OutOfServiceChange =
  | {
      readonly what: "addOutOfServiceTaint";
      /** Whether the machine is shown as off, or is gone. */
      readonly why: "off" | "gone";
      /** Whether it is set only if volumes are still attached: else the deletion of the Node does all that is left. */
      readonly ifAttached: boolean;
      /** How many observations are needed before the cloud is asked for proof; that of `check` does not count. */
      readonly observations: number;
      /** Shortest time that they must span, in seconds. */
      readonly overSeconds: number;
    }
  | {
      readonly what: "removeOutOfServiceTaint";
      /** Whether it is removed at once, because the machine was never off. Else its volumes are detached first. */
      readonly atOnce: boolean;
    }
  /** The taint is gone already, and the machine is back. */
  | { readonly what: "removeOutOfServiceRecord" };

/** What the controller goes by. */
export interface OutOfServiceSources {
  readonly provenOff: Pick<ProvenOff, "isShownOff">;
  readonly inventory: Inventory;
  readonly settings: OutOfServiceSettings;
  /** A machine that is gone is judged as for a deletion. */
  readonly deletion: Pick<DeletionSettings, "confirmations" | "enabled" | "holdOffMs">;
}

/** Lists what the controller would change on a Node some time, if nothing else changes. */
export function listOutOfServiceChanges(
  node: Node,
  presence: Presence,
  sources: OutOfServiceSources,
): OutOfServiceChange[] {
  const why = findReason(node, presence, sources);
  const verdict =
    why === undefined ? ({ kind: "keep" } as const) : ({ kind: "confirm", why } as const);
  const plan = planOutOfService(node, presence, verdict);
  switch (plan.kind) {
    case "confirm":
      return [toAddition(plan.why, sources)];
    case "return": {
      const bootId = node.status?.nodeInfo?.bootID ?? "";
      const facts = {
        isKubeletReporting: isKubeletReporting(node),
        bootId,
        attached: undefined,
        runningMs: 0,
      };
      const atOnce = planReturn(plan.record, facts).kind === "remove";
      return [{ what: "removeOutOfServiceTaint", atOnce }];
    }
    case "forget":
      return [{ what: "removeOutOfServiceRecord" }];
    case "nothing":
    case "release":
    case "blocked":
    case "foreign":
      return [];
  }
}

/** Shows a change as lines such as `+ taint …`. */
export function formatOutOfServiceChange(change: OutOfServiceChange): string[] {
  const taint = `taint ${OUT_OF_SERVICE_TAINT.key}`;
  switch (change.what) {
    case "addOutOfServiceTaint": {
      const { why, ifAttached, observations, overSeconds } = change;
      const wanted = `${observations} more observation${observations === 1 ? "" : "s"}`;
      const span = formatDuration(overSeconds * 1_000);
      const proof = `${wanted} over ${span} and proof that the machine is ${why}`;
      const volumes = ifAttached ? "if volumes are still attached, " : "";
      return [`+ ${taint}: would be set ${volumes}after ${proof}, within the fleet limit`];
    }
    case "removeOutOfServiceTaint": {
      const when = change.atOnce
        ? "the machine was never off"
        : "would be removed when its volumes are detached; the machine runs again";
      return [`- ${taint}: ${when}`];
    }
    case "removeOutOfServiceRecord":
      return [`- annotation ${OUT_OF_SERVICE_RECORD}: the taint is gone, and the machine runs`];
  }
}

/** Why a Node may get the taint, as far as one look tells. The plan decides whether anything speaks against it. */
function findReason(
  node: Node,
  presence: Presence,
  { provenOff, inventory }: OutOfServiceSources,
): "off" | "gone" | undefined {
  if (presence.kind === "absent") return "gone";
  if (presence.kind !== "present" || presence.instance.state !== "stopped") return undefined;
  const labels = node.metadata.labels ?? {};
  const isOff = provenOff.isShownOff({ inventory, node: toIdentity(node), labels });
  return isOff ? "off" : undefined;
}

function toAddition(
  why: "off" | "gone",
  { settings, deletion }: OutOfServiceSources,
): OutOfServiceChange {
  const isOff = why === "off";
  const observations = isOff ? settings.confirmations : deletion.confirmations;
  const overMs = isOff ? settings.graceMs : deletion.holdOffMs;
  return {
    what: "addOutOfServiceTaint",
    why,
    ifAttached: !isOff && deletion.enabled,
    observations,
    overSeconds: overMs / 1_000,
  };
}
