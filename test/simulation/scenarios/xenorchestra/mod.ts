/**
 * The scenarios of Xen Orchestra.
 * @module
 */
import type { Telling } from "../scenario.ts";
import { SCRIPTS } from "./scripts.ts";
import {
  toTelling,
  toTellings,
  findPool,
  losePool,
  move,
  type XoOutage,
  type XoStage,
} from "./tellings.ts";
import type { EventMode } from "../../../../lib/simulator/xenorchestra/events.ts";
import type { Fault, FaultScope } from "../../../../lib/simulator/xenorchestra/mod.ts";
import { restartCloud } from "../../xenorchestra/cloud_steps.ts";
import { MINUTE_MS, PARTS } from "../stage.ts";

const BOTH = ["alpha", "beta"] as const;
const SINGLE: FaultScope = { route: "/vms/{id}" };
const ALPHA = ["alpha-1", "alpha-2", "alpha-3", "alpha-4", "alpha-5"];
const IS_VARIANT = { isVariant: true };

/** Every request that is in the scope meets a fault. */
function toFault(
  name: string,
  fault: Fault,
  scope: FaultScope = {},
  more: Partial<XoOutage> = {},
): XoOutage {
  return { name, begin: ({ cloud }) => cloud.faults.set(fault, scope), ...more };
}

const LISTED = { lists: BOTH };

const REFUSALS: readonly XoOutage[] = [
  toFault("status-401", { kind: "status", status: 401 }),
  toFault("status-403", { kind: "status", status: 403 }, {}, IS_VARIANT),
  toFault("status-429", { kind: "status", status: 429, retryAfterSeconds: 20 }, {}, IS_VARIANT),
  toFault("status-500", { kind: "status", status: 500 }),
  toFault("status-503", { kind: "status", status: 503 }, {}, IS_VARIANT),
  toFault("status-401-for-single-vms", { kind: "status", status: 401 }, SINGLE, {
    ...LISTED,
    ...IS_VARIANT,
  }),
  toFault("status-500-for-single-vms", { kind: "status", status: 500 }, SINGLE, LISTED),
];

const CONNECTIONS: readonly XoOutage[] = [
  { name: "connections-refused", begin: (stage) => stage.refuseCloud(), isVariant: true },
  toFault("connections-reset", { kind: "reset" }, {}, IS_VARIANT),
  toFault("connections-hang", { kind: "hang" }),
  // Lists may take as long, single reads may not.
  toFault("answers-take-20-s", { kind: "delay", ms: 20_000 }, {}, LISTED),
  toFault("half-a-body", { kind: "halfBody" }),
];

const NO_PAGE: Fault = { kind: "html", status: 404 };

function toGateway(body: object): Fault {
  return { kind: "json", status: 404, body };
}

/** No VM is listed, and asked for alone none is there, as someone in between says. */
function toNoVms(name: string, fault: Fault): XoOutage {
  return {
    name: `no-vms-and-${name}-for-single-vms`,
    begin: ({ cloud }) => {
      cloud.faults.set({ kind: "json", body: [] }, { route: "/vms" });
      cloud.faults.set(fault, SINGLE);
      return () => cloud.faults.clear();
    },
  };
}

const DOCUMENTS: readonly XoOutage[] = [
  toFault("sign-in-page-of-a-proxy", { kind: "html", status: 200 }),
  toFault("empty-object", { kind: "json", body: {} }, {}, IS_VARIANT),
  toFault("redirect-to-another-server", { kind: "redirect", location: "http://127.0.0.1:1/" }),
  toFault("empty-lists", { kind: "json", body: [] }),
  toFault(
    "empty-list-of-vms",
    { kind: "json", body: [] },
    { route: "/vms" },
    {
      proves: BOTH,
      isMass: true,
    },
  ),
  toFault("empty-list-of-pools", { kind: "json", body: [] }, { route: "/pools" }, LISTED),
  toFault("html-404", NO_PAGE, {}, IS_VARIANT),
  toFault("html-404-for-single-vms", NO_PAGE, SINGLE, LISTED),
  toFault(
    "html-404-for-single-pools",
    NO_PAGE,
    { route: "/pools/{id}" },
    {
      ...LISTED,
      ...IS_VARIANT,
    },
  ),
  toFault("html-404-for-the-list-of-vms", NO_PAGE, { route: "/vms" }, IS_VARIANT),
  toFault("json-404-of-a-gateway", toGateway({ error: "not found" }), {}, IS_VARIANT),
  toFault(
    "json-404-of-a-gateway-for-single-vms",
    toGateway({ message: "no Route matched" }),
    SINGLE,
    LISTED,
  ),
  { ...toNoVms("html-404", NO_PAGE), isVariant: true },
  toNoVms("json-404", toGateway({ error: "not found" })),
  { ...toNoVms("500", { kind: "status", status: 500 }), isVariant: true },
];

const RIGHTS: readonly XoOutage[] = [
  toFault("token-lost-rights", { kind: "nonAdmin" }),
  {
    name: "token-lost-rights-to-the-vms-of-a-pool",
    begin: (stage) => {
      const { state } = stage.cloud;
      const ids = ALPHA.map((name) => stage.toVmId(name));
      for (const id of ids) state.forbid(id);
      return () => ids.forEach((id) => state.forbid(id, false));
    },
    lists: ["beta"],
    proves: BOTH,
    isMass: true,
  },
];

/** Machines that are shown in a form that nobody can read. */
function toUndecodable(name: string, names: readonly string[], more: Partial<XoOutage>): XoOutage {
  return {
    name,
    begin: (stage) => {
      const { garbled } = stage.cloud.state;
      for (const one of names) garbled.add(stage.toVmId(one));
      return () => garbled.clear();
    },
    proves: BOTH,
    ...more,
  };
}

const RECORDS: readonly XoOutage[] = [
  toUndecodable("unreadable-vm", ["alpha-1"], LISTED),
  toUndecodable("unreadable-vms-of-a-pool", ALPHA, { lists: ["beta"], isVariant: true }),
];

/** A pool is lost, which removes each of its machines by an event; and the events themselves go wrong. */
function toLoss(mode: EventMode): XoOutage {
  return {
    name: `pool-lost-while-events-are-${mode}`,
    begin: (stage) => {
      const { events } = stage.cloud;
      events.mode = mode;
      const restore = losePool(stage, "alpha");
      return () => {
        events.mode = "right";
        restore();
      };
    },
    lists: ["beta"],
  };
}

const EVENTS: readonly XoOutage[] = [
  toLoss("right"),
  { ...toLoss("doubled"), isVariant: true },
  { ...toLoss("lossy"), isVariant: true },
  toLoss("silent"),
  {
    name: "pool-blinks",
    begin: (stage) => stage.cloud.state.dropPool(findPool(stage, "alpha").id, 3_000),
    lists: BOTH,
    proves: BOTH,
  },
  {
    name: "events-cut-and-no-others-to-be-had",
    begin: ({ cloud }) => {
      const end = cloud.faults.set({ kind: "status", status: 503 }, { route: "GET /events" });
      cloud.events.drop();
      return end;
    },
    lists: BOTH,
    proves: BOTH,
  },
];

/** A pool of which the connection drops for a while; Xen Orchestra takes another minute to show it again. */
function toDrop(name: string, ms: number): XoOutage {
  return {
    name: `pool-lost-${name}`,
    begin: (stage) => stage.cloud.state.dropPool(findPool(stage, "alpha").id, ms, MINUTE_MS),
    lastsMs: ms + MINUTE_MS,
    lists: ["beta"],
  };
}

/** Copies as they were restored: they have the UUIDs of the machines, which nobody sees any more. */
function showCopies(stage: XoStage): () => void {
  const { state } = stage.cloud;
  const ids = ["alpha-1", "alpha-3", "alpha-4", "alpha-5"].map((name) => stage.toVmId(name));
  for (const id of ids) state.addCopy(id, findPool(stage, "beta").id);
  const restore = losePool(stage, "alpha");
  return () => {
    for (const id of ids) state.removeCopy(id);
    restore();
  };
}

const POOLS: readonly XoOutage[] = [
  toDrop("1500-ms", 1_500),
  { ...toDrop("2-min", 2 * MINUTE_MS), isVariant: true },
  toDrop("10-min", 10 * MINUTE_MS),
  {
    name: "both-pools-lost",
    begin: (stage) => {
      const ends = PARTS.map((part) => losePool(stage, part));
      return () => ends.forEach((end) => end());
    },
  },
  {
    name: "pool-removed-and-added-again",
    begin: (stage) => stage.cloud.forgetPool(findPool(stage, "alpha").id),
    lists: ["beta"],
    // Who never knew of the pool does not wait for it, but keeps the Nodes of its machines.
    provesAfterRestart: ["beta"],
  },
  { name: "pool-lost-and-halted-copies-shown", begin: showCopies, lists: ["beta"] },
];

/** Machines are missing while pools and hosts show. */
function hideVms(stage: XoStage, parts: readonly ("alpha" | "beta")[]): () => void {
  const ids = parts.map((part) => findPool(stage, part).id);
  for (const id of ids) stage.cloud.state.hideVms(id);
  return () => ids.forEach((id) => stage.cloud.state.hideVms(id, false));
}

const HALVES: readonly XoOutage[] = [
  {
    name: "vms-of-a-pool-hidden",
    begin: (stage) => hideVms(stage, ["alpha"]),
    lists: ["beta"],
    isMass: true,
  },
  { name: "all-vms-hidden", begin: (stage) => hideVms(stage, PARTS), isVariant: true },
  {
    name: "vm-between-two-pools-for-45-s",
    begin: (stage) => move(stage, "alpha-3", "beta", 45_000),
    lastsMs: 45_000,
    lists: BOTH,
    movesPart: ["alpha-3"],
    needsTime: true,
  },
  {
    name: "half-of-all-vms-look-deleted-for-4-min",
    begin: (stage) => {
      for (const name of ALPHA) move(stage, name, "alpha", 4 * MINUTE_MS);
    },
    lists: ["beta"],
    isMass: true,
    needsTime: true,
  },
];

/** It is away for a moment. @param loadedAfterMs Until its pools show */
function toRestart(
  name: string,
  loadedAfterMs: number,
  more: Partial<XoOutage> & { readonly connectedAfterMs?: number },
): XoOutage {
  const { connectedAfterMs = 0, ...outage } = more;
  return {
    name: `xo-server-restarts-${name}`,
    begin: ({ world }) => restartCloud(world, { downMs: 0, connectedAfterMs, loadedAfterMs }),
    ...outage,
  };
}

const RESTARTS: readonly XoOutage[] = [
  toRestart("fast", 0, { lastsMs: 2_000, proves: BOTH }),
  toRestart("in-15-s", 15_000, { connectedAfterMs: 6_000, lastsMs: 15_000, isVariant: true }),
  // Though they say at once that they are connected.
  toRestart("in-4-min", 4 * MINUTE_MS, {}),
];

/** All of them. */
export const OUTAGES: readonly XoOutage[] = [
  ...REFUSALS,
  ...CONNECTIONS,
  ...DOCUMENTS,
  ...RIGHTS,
  ...RECORDS,
  ...EVENTS,
  ...POOLS,
  ...HALVES,
  ...RESTARTS,
];

/** Each way to tell each of them. */
export const TELLINGS: readonly Telling[] = [
  ...OUTAGES.flatMap(toTellings),
  ...SCRIPTS.map(toTelling),
];
