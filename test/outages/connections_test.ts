import type { Fault } from "../../lib/simulator/xenorchestra/mod.ts";
import { describeOutages, type Outage } from "../support/outages/story.ts";

function toFault(title: string, fault: Fault): Outage {
  return { title, begin: ({ servers: { cloud } }) => cloud.faults.set(fault) };
}

describeOutages("when connections", [
  {
    title: "are refused",
    begin: async ({ servers: { cloud } }) => {
      await cloud.refuse();
      return () => cloud.accept();
    },
    isVariant: true,
  },
  toFault("are reset", { kind: "reset" }),
  toFault("hang without an answer", { kind: "hang" }),
  {
    // Lists may take as long, single reads may not.
    ...toFault("are slow: every answer takes 20 s", { kind: "delay", ms: 20_000 }),
    lists: ["alpha", "beta"],
  },
  toFault("end after half a body", { kind: "halfBody" }),
]);
