import { expect, test } from "bun:test";
import { planRemoval } from "../../../../../lib/providers/cloudstack/load_balancers/plan/removal.ts";
import { toScene } from "../../../../../lib/providers/cloudstack/load_balancers/plan/scene.ts";
import { createCloud, LB_NAME, REASON, toSpec } from "../cloud/services.ts";

for (const [kind, first] of [
  ["firewall", "deleteFirewallRule"],
  ["tier", "deleteAclItem"],
] as const) {
  test(`with a ${kind}, what lets clients in goes before the rule`, () => {
    const cloud = createCloud(kind);
    const { id: addressId } = cloud.addAddress({ ip: "192.0.2.1", networkId: "net-1" });
    const rule = cloud.addRule({ name: `${LB_NAME}-tcp-80`, addressId, networkId: "net-1" });
    if (kind === "firewall") cloud.addFirewallRule({ addressId });
    else cloud.addAclItem({ listId: "list-1", reason: REASON });
    const steps = planRemoval(toScene(cloud.view(), toSpec()), rule, () => false);
    expect(steps.map(({ change }) => change.kind)).toEqual([first, "deleteRule"]);
  });
}
