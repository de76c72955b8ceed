import { describe, expect, test } from "bun:test";
import type { LoadBalancerPlan } from "../../../../lib/cloud/capabilities/load_balancers.ts";
import { ManagedServices } from "../../../../lib/controllers/service/state/managed.ts";
import { ShownWriter } from "../../../../lib/controllers/service/state/shown_writer.ts";
import { Progress } from "../../../../lib/controllers/service/progress.ts";
import type { Service } from "../../../../lib/kube/kinds/service.ts";
import { ManualClock } from "../../../support/manual_clock.ts";

const SERVICE: Service = {
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "shop", namespace: "web", uid: "u", annotations: { theirs: "old" } },
};
const PLAN = { annotations: { theirs: "new" }, record: "r" };

function create(): {
  readonly writes: object[];
  readonly clock: ManualClock;
  hold(plan: Pick<LoadBalancerPlan, "annotations" | "record">): Promise<boolean>;
} {
  const [writes, clock]: [object[], ManualClock] = [[], new ManualClock()];
  const managed = new ManagedServices(clock);
  managed.note(SERVICE);
  const writer = {
    dropsIpMode: false,
    setIngress: () => Promise.reject(new Error("the status must stay")),
    setAnnotations: (_service: Service, annotations: object) => {
      writes.push(annotations);
      return Promise.resolve();
    },
  };
  const shown = new ShownWriter({ writer, managed });
  const run = { signal: new AbortController().signal };
  return {
    writes,
    clock,
    hold: (plan) => shown.hold(SERVICE, plan, { progress: new Progress(), run }),
  };
}

describe("ShownWriter.hold()", () => {
  test("writes annotations and record at once", async () => {
    const { hold, writes } = create();
    expect(await hold(PLAN)).toBe(true);
    expect(writes).toEqual([{ theirs: "new", "landfall.dev/load-balancer": "r" }]);
  });

  test("writes nothing if the Service has them", async () => {
    const { hold, writes } = create();
    expect(await hold({ annotations: { theirs: "old" } })).toBe(false);
    expect(writes).toEqual([]);
  });

  test("corrects another program five times in ten minutes, and again later", async () => {
    const { hold, writes, clock } = create();
    for (let round = 0; round < 8; round += 1) await hold(PLAN);
    expect(writes).toHaveLength(5);
    await clock.advance(600_000);
    expect(await hold(PLAN)).toBe(true);
  });
});
