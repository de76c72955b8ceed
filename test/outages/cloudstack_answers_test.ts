import type { Fault, FaultScope } from "../../lib/simulator/cloudstack/mod.ts";
import {
  describeCloudStackOutages,
  type CloudStackOutage,
} from "../support/outages/cloudstack_story.ts";
import { type CloudStackRig, listVmIds, SMALL_PAGE } from "../support/outages/cloudstack_rig.ts";

const BOTH = ["alpha", "beta"] as const;
const HOUR_MS = 3_600_000;
const LIST = "listVirtualMachines";

/** Every request that is in the scope meets a fault. */
function toFault(title: string, fault: Fault, scope: FaultScope = {}): CloudStackOutage {
  return { title, begin: ({ cloud }) => cloud.faults.set(fault, scope) };
}

/** Direct reads of the machines that are gone meet a fault; lists are right. */
function toDirectFault(title: string, fault: Fault): CloudStackOutage {
  return {
    title: `${title}, for single VMs`,
    begin: ({ cloud, toVmId }) => {
      for (const name of ["alpha-gone", "beta-gone"]) {
        cloud.faults.set(fault, { value: toVmId(name) });
      }
      return () => cloud.faults.clear();
    },
    lists: BOTH,
  };
}

/** Much like another outage. */
function toVariant(outage: CloudStackOutage): CloudStackOutage {
  return { ...outage, isVariant: true };
}

function toJson(body: unknown, status = 200): Fault {
  return { kind: "json", status, body };
}

describeCloudStackOutages("when CloudStack refuses", [
  toFault("with 401", { kind: "error", code: 401 }),
  toFault("with 429", { kind: "error", code: 429, text: "retry after [40000] ms" }),
  toVariant(
    toFault("with 431 about a parameter", { kind: "error", code: 431, text: "Invalid parameter" }),
  ),
  toFault("with 503", { kind: "error", code: 503 }),
  toFault("with 530", { kind: "error", code: 530 }),
  toVariant(toFault("with 531", { kind: "error", code: 531 })),
  toVariant(toDirectFault("with 401", { kind: "error", code: 401 })),
  toDirectFault("with 530", { kind: "error", code: 530 }),
  {
    title: "with 401, because its clock is an hour ahead",
    begin: ({ cloud }) => {
      cloud.settings.clockSkewMs = HOUR_MS;
      return () => (cloud.settings.clockSkewMs = 0);
    },
  },
]);

describeCloudStackOutages("when connections", [
  {
    title: "are refused",
    begin: ({ server }) => {
      server.isRefusing = true;
      return () => (server.isRefusing = false);
    },
  },
  toFault("are reset", { kind: "reset" }),
  toVariant(toFault("are reset after the command", { kind: "resetAfter" })),
  toFault("hang without an answer", { kind: "hang" }),
  toFault("end after half a body", { kind: "halfBody" }),
  {
    // Nodes are seen, but a proof has several questions.
    ...toFault("are slow: every answer takes 20 s", { kind: "delay", ms: 20_000 }),
    lists: BOTH,
  },
]);

describeCloudStackOutages("when the answer is", [
  toFault("HTML 502", { kind: "html", status: 502 }),
  toVariant(toFault("HTML 404", { kind: "html", status: 404 })),
  toFault("200 with HTML", { kind: "html", status: 200 }),
  toFault("200 with {}", toJson({})),
  toVariant(toFault("200 with []", toJson([]))),
  toVariant(toFault("a list under two keys", toJson({ a: {}, b: {} }))),
  toVariant(toFault("a gateway's JSON 404", toJson({ error: "not found" }, 404))),
  toFault("a redirect to another server", { kind: "redirect", location: "http://127.0.0.1:1/" }),
  toFault("an empty list", { kind: "emptyList" }),
  toVariant(toDirectFault("a redirect", { kind: "redirect", location: "http://127.0.0.1:1/" })),
  toDirectFault("HTML 404", { kind: "html", status: 404 }),
]);

/** Pages are small, and one of them is wrong. */
function toPageFault(title: string, fault: Fault, lists: readonly ("alpha" | "beta")[]) {
  const begin = ({ cloud }: CloudStackRig) => {
    cloud.settings.defaultPageSize = SMALL_PAGE;
    return cloud.faults.set(fault, { command: LIST });
  };
  return { title, begin, lists };
}

describeCloudStackOutages("when a list", [
  toPageFault("lacks its first page", { kind: "missingPage", page: 1 }, []),
  toPageFault("lacks its second page", { kind: "missingPage", page: 2 }, ["beta"]),
  toPageFault("changes between two pages", { kind: "shrinkingList" }, BOTH),
  {
    title: "holds VMs that cannot be read",
    begin: ({ cloud: { state } }) => {
      for (const id of listVmIds("alpha")) state.override(id, { nic: 7 });
      return () => {
        for (const id of listVmIds("alpha")) state.vm(id).overrides = {};
      };
    },
    lists: ["beta"],
    proves: BOTH,
  },
  {
    title: "shows VMs without zone, service offering and interfaces",
    begin: ({ cloud: { state } }) => {
      const nothing = { zoneid: undefined, zonename: undefined, serviceofferingname: undefined };
      for (const id of listVmIds("alpha")) state.override(id, { ...nothing, nic: [] });
      return () => {
        for (const id of listVmIds("alpha")) state.vm(id).overrides = {};
      };
    },
    lists: ["beta"],
    proves: BOTH,
  },
  {
    title: "holds VMs whose IDs cannot be read",
    begin: ({ cloud: { state } }) => {
      for (const id of listVmIds("alpha")) state.override(id, { id: "7" });
      return () => {
        for (const id of listVmIds("alpha")) state.vm(id).overrides = {};
      };
    },
    lists: ["beta"],
  },
  {
    title: "says no owners",
    begin: ({ cloud: { state } }) => {
      const nothing = { account: undefined, domainid: undefined };
      const ids = [...listVmIds("alpha"), ...listVmIds("beta")];
      for (const id of ids) state.override(id, nothing);
      return () => ids.forEach((id) => (state.vm(id).overrides = {}));
    },
    lists: BOTH,
  },
]);
