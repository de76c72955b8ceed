/**
 * A VM of Xen Orchestra moves while it runs.
 * @module
 */
import { EVENT_WORDS } from "../../../../controllers/node_labels/words.ts";
import { HOST_ID_LABEL, ORIGIN_LABELS } from "../../../../providers/xenorchestra/labels.ts";
import { requireMachine, type Step, waitForNodes, waitUntil } from "../../story/stage.ts";
import type { XenOrchestraSite } from "./site.ts";
import { isOnHost } from "./places.ts";

/** The steps, in order. */
export function toLiveSteps({ simulator, world }: XenOrchestraSite): readonly Step[] {
  const from = world.hostIds["xcp-par-1"];
  const to = world.hostIds["xcp-par-3"];
  return [
    {
      title: "worker-1 live-migrates to host xcp-par-3: its zone and host labels follow",
      play: async (stage, signal) => {
        const wasThere = isOnHost(stage.view.nodes.get("worker-1"), world, "xcp-par-1");
        stage.tell("  >  Xen Orchestra moves worker-1 from xcp-par-1 to xcp-par-3 while it runs");
        simulator.state.migrateLive(requireMachine(stage.cloud, "worker-1").vmId, to);
        const hasMoved = await waitForNodes(
          stage,
          ["worker-1"],
          signal,
          (node) =>
            isOnHost(node, world, "xcp-par-3") &&
            node.metadata.labels?.[ORIGIN_LABELS[HOST_ID_LABEL] ?? ""] === from,
        );
        const { reason } = EVENT_WORDS.zoneChanged;
        const isTold = await waitUntil(stage, signal, () => {
          const { message = "" } = stage.view.findEvent("worker-1", reason) ?? {};
          return message.includes(from) && message.includes(to);
        });
        return wasThere && hasMoved && isTold;
      },
    },
  ];
}
