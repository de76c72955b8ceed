import type { Fault, FaultScope } from "../../lib/simulator/xenorchestra/mod.ts";
import { describeOutages, type Outage } from "../support/outages/story.ts";

const BOTH = ["alpha", "beta"] as const;
const SINGLE: FaultScope = { route: "/vms/{id}" };
const NO_PAGE: Fault = { kind: "html", status: 404 };

/** Every request that is in the scope meets a fault. */
function toFault(title: string, fault: Fault, scope: FaultScope = {}): Outage {
  return { title, begin: ({ servers: { cloud } }) => cloud.faults.set(fault, scope) };
}

function toGateway(body: object): Fault {
  return { kind: "json", status: 404, body };
}

describeOutages("when the answer is", [
  toFault("200 with HTML", { kind: "html", status: 200 }),
  { ...toFault("200 with {}", { kind: "json", body: {} }), isVariant: true },
  toFault("a redirect to another server", { kind: "redirect", location: "http://127.0.0.1:1/" }),
  toFault("200 with []", { kind: "json", body: [] }),
  {
    ...toFault("200 with [], for the list of VMs", { kind: "json", body: [] }, { route: "/vms" }),
    proves: BOTH,
    isMass: true,
  },
  {
    ...toFault(
      "200 with [], for the list of pools",
      { kind: "json", body: [] },
      { route: "/pools" },
    ),
    lists: BOTH,
  },
  { ...toFault("HTML 404", NO_PAGE), isVariant: true },
  { ...toFault("HTML 404, for single VMs", NO_PAGE, SINGLE), lists: BOTH },
  {
    ...toFault("HTML 404, for single pools", NO_PAGE, { route: "/pools/{id}" }),
    lists: BOTH,
    isVariant: true,
  },
  { ...toFault("HTML 404, for the list of VMs", NO_PAGE, { route: "/vms" }), isVariant: true },
  { ...toFault("a gateway's JSON 404", toGateway({ error: "not found" })), isVariant: true },
  {
    ...toFault(
      "a gateway's JSON 404, for single VMs",
      toGateway({ message: "no Route matched" }),
      SINGLE,
    ),
    lists: BOTH,
  },
]);

/** No VM is listed, and asked for alone none is there, as someone in between says. */
function toNoVms(title: string, fault: Fault): Outage {
  return {
    title: `200 with [] for the list of VMs, and ${title} for single VMs`,
    begin: ({ servers: { cloud } }) => {
      cloud.faults.set({ kind: "json", body: [] }, { route: "/vms" });
      cloud.faults.set(fault, SINGLE);
      return () => cloud.faults.clear();
    },
  };
}

describeOutages("when the answers are", [
  { ...toNoVms("HTML 404", NO_PAGE), isVariant: true },
  toNoVms("a gateway's JSON 404", toGateway({ error: "not found" })),
  { ...toNoVms("500", { kind: "status", status: 500 }), isVariant: true },
]);

describeOutages("when rights are lost:", [
  toFault("lists are empty, single reads 403", { kind: "nonAdmin" }),
  {
    title: "lists lack the machines of a pool, and reading them is 403",
    begin: (rig) => {
      const { state } = rig.servers.cloud;
      const ids = ["1", "2", "3", "4", "5"].map((suffix) => rig.toVmId(`alpha-${suffix}`));
      for (const id of ids) state.forbid(id);
      return () => ids.forEach((id) => state.forbid(id, false));
    },
    lists: ["beta"],
    proves: BOTH,
    isMass: true,
  },
]);

/** Machines that are shown in a form that nobody can read. */
function toUndecodable(title: string, names: readonly string[]): Outage {
  return {
    title,
    begin: (rig) => {
      const { state } = rig.servers.cloud;
      const undo = names.map((name) => {
        const id = rig.toVmId(name);
        const { name_label, power_state, memory, addresses, CPUs } = state.read("vms", id) ?? {
          id,
        };
        state.makeUndecodable(id);
        return () => state.setVm(id, { name_label, power_state, memory, addresses, CPUs });
      });
      return () => undo.forEach((one) => one());
    },
    proves: BOTH,
  };
}

describeOutages("when machines cannot be read:", [
  { ...toUndecodable("one", ["alpha-1"]), lists: BOTH },
  {
    ...toUndecodable("a whole pool", ["alpha-1", "alpha-2", "alpha-3", "alpha-4", "alpha-5"]),
    lists: ["beta"],
    isVariant: true,
  },
]);
