import type { Fault, FaultScope } from "../../lib/simulator/xenorchestra/mod.ts";
import { describeOutages, type Outage } from "../support/outages/story.ts";

const BOTH = ["alpha", "beta"] as const;

/** Every request that is in the scope meets a fault. */
function toFault(title: string, fault: Fault, scope: FaultScope = {}): Outage {
  return { title, begin: ({ servers: { cloud } }) => cloud.faults.set(fault, scope) };
}

const SINGLE = { route: "/vms/{id}" };

describeOutages("when requests are refused", [
  toFault("with 401", { kind: "status", status: 401 }),
  { ...toFault("with 403", { kind: "status", status: 403 }), isVariant: true },
  toFault("with 429", { kind: "status", status: 429, retryAfterSeconds: 20 }),
  toFault("with 500", { kind: "status", status: 500 }),
  { ...toFault("with 503", { kind: "status", status: 503 }), isVariant: true },
  {
    ...toFault("with 401, for single VMs", { kind: "status", status: 401 }, SINGLE),
    lists: BOTH,
    isVariant: true,
  },
  { ...toFault("with 500, for single VMs", { kind: "status", status: 500 }, SINGLE), lists: BOTH },
]);
