/**
 * Ways in which CloudStack misleads.
 * @module
 */
import type { Fault, FaultScope, VmState } from "../../../../lib/simulator/cloudstack/mod.ts";
import { FALLEN } from "../outage.ts";
import { LIVE } from "../stage.ts";
import {
  type CsOutage,
  type CsStage,
  listVmIds,
  SMALL_PAGE,
  swapKeys,
  writeKeys,
} from "./tellings.ts";

const BOTH = ["alpha", "beta"] as const;
const LISTED = { lists: BOTH };
const IS_VARIANT = { isVariant: true };
const HOUR_MS = 3_600_000;
const SHORT_MS = 45_000;
const LIST = "listVirtualMachines";
/** Nodes whose kubelets report all the time, and whose machines do not change. */
const READY = ["beta-3", "beta-4", "beta-5"];

/** Every request that is in the scope meets a fault. */
function toFault(name: string, fault: Fault, more: Partial<CsOutage> = {}): CsOutage {
  return { name, begin: ({ cloud }) => cloud.server.faults.set(fault), ...more };
}

/** Direct reads of the machines that are gone meet a fault; lists are right. */
function toDirectFault(name: string, fault: Fault, more: Partial<CsOutage> = {}): CsOutage {
  return {
    name: `${name}-for-single-vms`,
    begin: (stage) => {
      const { faults } = stage.cloud.server;
      for (const one of ["alpha-gone", "beta-gone"])
        faults.set(fault, { value: stage.toVmId(one) });
      return () => faults.clear();
    },
    ...LISTED,
    ...more,
  };
}

function toError(code: number, text?: string): Fault {
  return { kind: "error", code, ...(text !== undefined && { text }) };
}

function toJson(body: unknown, status: number = 200): Fault {
  return { kind: "json", status, body };
}

const REFUSALS: readonly CsOutage[] = [
  toFault("error-401", toError(401)),
  toFault("error-429", toError(429, "retry after [40000] ms")),
  toFault("error-431-about-a-parameter", toError(431, "Invalid parameter"), IS_VARIANT),
  toFault("error-503", toError(503), IS_VARIANT),
  toFault("error-530", toError(530), IS_VARIANT),
  toFault("error-531", toError(531), IS_VARIANT),
  toDirectFault("error-401", toError(401), IS_VARIANT),
  toDirectFault("error-530", toError(530)),
  {
    name: "its-clock-is-an-hour-ahead",
    begin: ({ cloud: { server } }) => {
      server.settings.clockSkewMs = HOUR_MS;
      return () => (server.settings.clockSkewMs = 0);
    },
  },
];

const CONNECTIONS: readonly CsOutage[] = [
  { name: "connections-refused", begin: (stage) => stage.refuseCloud() },
  toFault("connections-reset", { kind: "reset" }, IS_VARIANT),
  toFault("connections-reset-after-the-command", { kind: "resetAfter" }, IS_VARIANT),
  toFault("connections-hang", { kind: "hang" }),
  toFault("half-a-body", { kind: "halfBody" }, IS_VARIANT),
  // Nodes are seen, but a proof has several questions.
  toFault("answers-take-20-s", { kind: "delay", ms: 20_000 }, LISTED),
];

const ELSEWHERE: Fault = { kind: "redirect", location: "http://127.0.0.1:1/" };

const DOCUMENTS: readonly CsOutage[] = [
  toFault("html-502", { kind: "html", status: 502 }, IS_VARIANT),
  toFault("html-404", { kind: "html", status: 404 }, IS_VARIANT),
  toFault("sign-in-page-of-a-proxy", { kind: "html", status: 200 }),
  toFault("empty-object", toJson({}), IS_VARIANT),
  toFault("empty-array", toJson([]), IS_VARIANT),
  toFault("two-keys", toJson({ a: {}, b: {} }), IS_VARIANT),
  toFault("json-404-of-a-gateway", toJson({ error: "not found" }, 404), IS_VARIANT),
  toFault("redirect-to-another-server", ELSEWHERE),
  toFault("empty-list", { kind: "emptyList" }),
  toDirectFault("redirect", ELSEWHERE, IS_VARIANT),
  toDirectFault("html-404", { kind: "html", status: 404 }),
];

/** Pages are small, and one of them is wrong. */
function toPageFault(name: string, fault: Fault, lists: readonly ("alpha" | "beta")[]): CsOutage {
  const begin = ({ cloud: { server } }: CsStage): (() => void) => {
    server.settings.defaultPageSize = SMALL_PAGE;
    return server.faults.set(fault, { command: LIST });
  };
  return { name, begin, lists };
}

/** Records of machines are shown with other fields. */
function toShown(
  name: string,
  parts: readonly ("alpha" | "beta")[],
  fields: Readonly<Record<string, unknown>>,
  more: Partial<CsOutage>,
): CsOutage {
  return {
    name,
    begin: (stage) => {
      const { state } = stage.cloud;
      const ids = parts.flatMap((part) => listVmIds(stage, part));
      for (const id of ids) state.override(id, fields);
      return () => ids.forEach((id) => (state.vm(id).overrides = {}));
    },
    ...more,
  };
}

const NOWHERE = { zoneid: undefined, zonename: undefined, serviceofferingname: undefined, nic: [] };
const PROVEN = { lists: ["beta"], proves: BOTH } as const;

const LISTS: readonly CsOutage[] = [
  {
    ...toPageFault("list-lacks-its-first-page", { kind: "missingPage", page: 1 }, []),
    ...IS_VARIANT,
  },
  toPageFault("list-lacks-its-second-page", { kind: "missingPage", page: 2 }, ["beta"]),
  toPageFault("list-changes-between-two-pages", { kind: "shrinkingList" }, BOTH),
  toShown("unreadable-vms", ["alpha"], { nic: 7 }, PROVEN),
  toShown("vms-without-zone-offering-and-interfaces", ["alpha"], NOWHERE, PROVEN),
  toShown("vms-with-unreadable-ids", ["alpha"], { id: "7" }, { lists: ["beta"] }),
  toShown("vms-without-owners", BOTH, { account: undefined, domainid: undefined }, LISTED),
];

function restrict({ cloud: { server } }: CsStage): () => void {
  const { role } = server.user;
  server.user.role = { name: "other", commands: ["listZones"] };
  return () => (server.user.role = role);
}

const RIGHTS: readonly CsOutage[] = [
  { name: "role-lost-the-list", begin: restrict, isVariant: true },
  {
    name: "role-lost-the-list-on-an-old-server",
    isVariant: true,
    begin: (stage) => {
      stage.cloud.server.settings.refusesBy = 401;
      return restrict(stage);
    },
  },
  {
    name: "user-disabled",
    isVariant: true,
    begin: ({ cloud: { server } }) => {
      server.user.isEnabled = false;
      return () => (server.user.isEnabled = true);
    },
  },
  {
    name: "keys-became-those-of-another-account",
    isVariant: true,
    begin: (stage) => swapKeys(stage, "ops"),
  },
  {
    name: "keys-became-those-of-another-domain",
    begin: (stage) => swapKeys(stage, "outsider"),
  },
  {
    name: "keys-became-those-of-the-owner-of-one-zone",
    isMass: true,
    how: { isShared: true, hasManager: true },
    begin: (stage) => swapKeys(stage, "acme"),
    lists: ["alpha"],
    proves: ["alpha"],
  },
  {
    name: "settings-get-keys-of-another-account",
    begin: (stage) => writeKeys(stage, "ops"),
    forgets: true,
  },
  {
    name: "settings-get-keys-of-the-owner-of-one-zone",
    how: { isShared: true, hasManager: true },
    begin: (stage) => writeKeys(stage, "acme"),
    lists: ["alpha"],
    forgets: true,
  },
];

function findProject({ cloud: { state, places } }: CsStage) {
  const project = state.projects.get(places.project?.id ?? "");
  if (project === undefined) throw new Error("There is no project");
  return project;
}

/** The server does not know the project by its ID. */
function forgetProject(stage: CsStage): () => void {
  const { id } = findProject(stage);
  const text = `Invalid parameter projectid value=${id} due to incorrect long value format, or entity does not exist`;
  return stage.cloud.server.faults.set(toError(431, text), { value: id });
}

const PROJECTS: readonly CsOutage[] = [
  { name: "project-unknown", isVariant: true, how: { projectBy: "id" }, begin: forgetProject },
  {
    name: "project-not-shown-and-unknown",
    how: { projectBy: "name" },
    begin: (stage) => {
      const scope: FaultScope = { command: "listProjects" };
      const ends = [
        forgetProject(stage),
        stage.cloud.server.faults.set({ kind: "emptyList" }, scope),
      ];
      return () => ends.forEach((end) => end());
    },
  },
  {
    name: "project-lost-the-user-as-a-member",
    how: { projectBy: "id" },
    begin: (stage) => {
      const project = findProject(stage);
      const { memberIds = [] } = project;
      project.memberIds = [];
      return () => (project.memberIds = memberIds);
    },
  },
  {
    name: "project-renamed",
    how: { projectBy: "name" },
    begin: (stage) => {
      const project = findProject(stage);
      const { name } = project;
      project.name = "renamed";
      return () => (project.name = name);
    },
    lists: BOTH,
    proves: BOTH,
  },
];

/** What is done to each machine of some Nodes, and taken back. */
function toChange(
  names: readonly string[],
  change: (stage: CsStage, vmId: string) => () => void,
): Pick<CsOutage, "begin"> {
  const begin = (stage: CsStage): (() => void) => {
    const ends = names.map((name) => change(stage, stage.toVmId(name)));
    return () => ends.forEach((end) => end());
  };
  return { begin };
}

function hide({ cloud: { state } }: CsStage, vmId: string): () => void {
  state.hide(vmId);
  return () => state.hide(vmId, false);
}

/** Makes a machine another account's. */
export function assign({ cloud: { state, places } }: CsStage, vmId: string): () => void {
  return assignTo(state, vmId, places.strangerId);
}

function assignToProject({ cloud: { state, places } }: CsStage, vmId: string): () => void {
  return assignTo(state, vmId, places.projectAccountId);
}

function assignTo(state: CsStage["cloud"]["state"], vmId: string, accountId: string): () => void {
  const vm = state.vm(vmId);
  const before = { accountId: vm.accountId, nics: vm.nics };
  state.assign(vmId, accountId);
  return () => Object.assign(vm, before);
}

/** The database or the whole CloudStack is another one, which never had the machine. */
function forget({ cloud }: CsStage, vmId: string): () => void {
  return cloud.forget(vmId);
}

function setState(to: VmState) {
  return ({ cloud: { state } }: CsStage, vmId: string): (() => void) => {
    const before = state.vm(vmId).state;
    state.setState(vmId, to);
    return () => state.setState(vmId, before);
  };
}

/** The user sees VMs that are destroyed or being expunged. */
function seeDestroyed({ cloud: { state, places } }: CsStage): void {
  const account = state.accounts.get(places.accountId);
  if (account) account.seesDestroyed = true;
}

const HIDDEN: readonly CsOutage[] = [
  { name: "ready-vms-hidden", isMass: true, ...toChange(READY, hide), lists: BOTH, proves: BOTH },
  {
    name: "ready-vms-assigned-to-another-account",
    isMass: true,
    ...toChange(READY, assign),
    lists: BOTH,
    proves: BOTH,
  },
  {
    name: "vms-assigned-to-a-project",
    isMass: true,
    ...toChange(FALLEN, assignToProject),
    ...PROVEN,
  },
  {
    name: "database-restored-without-one-zone",
    isMass: true,
    ...toChange(FALLEN, forget),
    ...PROVEN,
  },
  { name: "another-cloudstack-answers", ...toChange(LIVE, forget) },
];

/** Nothing tells it from the truth for 45 s. */
function toShort(name: string, change: Pick<CsOutage, "begin">): CsOutage {
  return { name, ...change, lastsMs: SHORT_MS, lists: ["beta"], needsTime: true };
}

const SHORT: readonly CsOutage[] = [
  toShort("vms-hidden-for-45-s", toChange(FALLEN, hide)),
  toShort("vms-assigned-to-another-account-for-45-s", toChange(FALLEN, assign)),
  // Under the eyes of a user who does not see that.
  toShort("vms-destroyed-and-recovered", toChange(FALLEN, setState("Destroyed"))),
  toShort("vms-shown-as-expunging-for-45-s", {
    begin: (stage) => {
      seeDestroyed(stage);
      return toChange(FALLEN, setState("Expunging")).begin(stage);
    },
  }),
];

/** All of them. */
export const OUTAGES: readonly CsOutage[] = [
  ...REFUSALS,
  ...CONNECTIONS,
  ...DOCUMENTS,
  ...LISTS,
  ...RIGHTS,
  ...PROJECTS,
  ...HIDDEN,
  ...SHORT,
];
