/**
 * What is left of a load-balancer rule that was deleted by hand goes with its Service.
 * @module
 */
import { expect, test } from "bun:test";
import { dropRule } from "../../lib/simulator/cloudstack/world/addresses.ts";
import { FREE_IP } from "./site.ts";
import type { Stage } from "./stage.ts";
import { tell } from "./table.ts";

const WEB = { name: "web", namespace: "default" } as const;
const HTTP = { name: "http", port: 80, nodePort: 30_080, protocol: "TCP", targetPort: 8_080 };
const HTTPS = { name: "https", port: 443, nodePort: null, protocol: "TCP", targetPort: 8_443 };

function create({ objects }: Stage): void {
  const spec = { type: "LoadBalancer", loadBalancerIP: FREE_IP, ports: [HTTP] };
  objects.create("services", { metadata: WEB, spec });
}

/** The change makes Landfall look, and it cannot make the rule again. */
function loseRule({ cloud, objects }: Stage): void {
  const { loadBalancerRules } = cloud.state;
  for (const { id, name } of loadBalancerRules.values()) {
    if (name.endsWith("-tcp-80")) dropRule(cloud.state, id);
  }
  cloud.faults.set({ kind: "error", code: 530 }, { command: "createLoadBalancerRule", times: 100 });
  objects.patch("services", WEB, { spec: { sessionAffinity: "ClientIP" } });
}

test("an address goes with a Service that lost its port after its rule was deleted by hand", async () => {
  const { isDone } = await tell(
    {
      name: "a Service whose rule was deleted by hand gets another type and port",
      network: "isolated",
      namesAddress: true,
      frees: FREE_IP,
      before: [create, loseRule],
      act: ({ objects }) => {
        objects.patch("services", WEB, { spec: { type: "ClusterIP", ports: [HTTPS] } });
      },
    },
    { jobMs: 200 },
  );
  expect(isDone).toBe(true);
});
