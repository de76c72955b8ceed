import { expect, test } from "bun:test";
import { setStage } from "../../../support/page/demo_stage.ts";
import { toNode } from "../../../support/nodes/nodes.ts";

const NEVER = new AbortController().signal;

test.each(["xenorchestra", "cloudstack"])(
  "toJoinSteps() on %s wants every Node to have the provider ID of its own VM",
  async (on) => {
    await using set = await setStage({ on });
    const { cloud, view } = set.stage;
    const machines = [...cloud.machines.values()];
    const nodes = machines.map(({ nodeName, vmId }) =>
      toNode(nodeName, { uninitialized: false, providerId: `test://${vmId}` }),
    );
    const play = (): Promise<boolean> => set.step("has the provider ID").play(set.stage, NEVER);
    view.nodes.replace(nodes, "1");
    expect(await play()).toBe(true);
    const [first, ...others] = nodes;
    const other = toNode(first?.metadata.name ?? "", {
      providerId: "test://another",
      resourceVersion: "200",
    });
    view.nodes.replace([other, ...others], "2");
    expect(await play()).toBe(false);
  },
);
