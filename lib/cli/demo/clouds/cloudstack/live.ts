/**
 * A VM of CloudStack changes while it runs.
 * @module
 */
import { EVENT_WORDS } from "../../../../controllers/node_labels/words.ts";
import type { CloudStackSimulator, StoryWorld } from "../../../../simulator/cloudstack/mod.ts";
import { requireMachine, type Step, waitForNodes, waitUntil } from "../../story/stage.ts";
import { isOfType } from "./places.ts";

const NODE = "worker-1";

/** The steps, in order. */
export function toLiveSteps(
  state: CloudStackSimulator["state"],
  { offeringIds }: Pick<StoryWorld, "offeringIds">,
): readonly Step[] {
  return [
    {
      title: `${NODE} gets a larger service offering: its instance type follows`,
      play: async (stage, signal) => {
        const wasSmall = isOfType(stage.view.nodes.get(NODE), "SmallInstance");
        stage.tell(`  >  CloudStack scales ${NODE} up while it runs`);
        state.vm(requireMachine(stage.cloud, NODE).vmId).offeringId = offeringIds.large;
        const isLarge = await waitForNodes(stage, [NODE], signal, (node) =>
          isOfType(node, "Large8ber"),
        );
        const { reason } = EVENT_WORDS.instanceTypeChanged;
        const isTold = await waitUntil(stage, signal, () => {
          const { message = "" } = stage.view.findEvent(NODE, reason) ?? {};
          return message.includes("SmallInstance") && message.includes("Large8ber");
        });
        return wasSmall && isLarge && isTold;
      },
    },
  ];
}
