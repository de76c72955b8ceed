import type { VmState } from "../../lib/simulator/cloudstack/mod.ts";
import type { CloudStackRig } from "../support/outages/cloudstack_rig.ts";
import { FALLEN, LIVE } from "../support/outages/fleet.ts";
import {
  describeCloudStackOutages,
  type CloudStackOutage,
} from "../support/outages/cloudstack_story.ts";

const BOTH = ["alpha", "beta"] as const;
const SHORT_MS = 45_000;
/** Nodes whose kubelets report all the time, and whose machines do not change. */
const READY = ["beta-3", "beta-4", "beta-5"];

/** What is done to each machine of some Nodes, and taken back. */
function toChange(
  names: readonly string[],
  change: (rig: CloudStackRig, vmId: string) => () => void,
): Pick<CloudStackOutage, "begin"> {
  const begin = (rig: CloudStackRig): (() => void) => {
    const ends = names.map((name) => change(rig, rig.toVmId(name)));
    return () => ends.forEach((end) => end());
  };
  return { begin };
}

function hide({ cloud: { state } }: CloudStackRig, vmId: string): () => void {
  state.hide(vmId);
  return () => state.hide(vmId, false);
}

function assignTo(accountId: (rig: CloudStackRig) => string) {
  return (rig: CloudStackRig, vmId: string): (() => void) => {
    const vm = rig.cloud.state.vm(vmId);
    const before = { accountId: vm.accountId, nics: vm.nics };
    rig.cloud.state.assign(vmId, accountId(rig));
    return () => Object.assign(vm, before);
  };
}

/** The database or the whole CloudStack is another one, which never had the machine. */
function forget(rig: CloudStackRig, vmId: string): () => void {
  return rig.forget(vmId);
}

function setState(to: VmState) {
  return ({ cloud: { state } }: CloudStackRig, vmId: string): (() => void) => {
    const before = state.vm(vmId).state;
    state.setState(vmId, to);
    return () => state.setState(vmId, before);
  };
}

function toUnknownProject(id: string): string {
  return `Invalid parameter projectid value=${id} due to incorrect long value format, or entity does not exist`;
}

/** The user sees VMs that are destroyed or being expunged. */
function seeDestroyed({ cloud: { state }, accountIds }: CloudStackRig): void {
  const account = state.accounts.get(accountIds.acme);
  if (account) account.seesDestroyed = true;
}

describeCloudStackOutages("when rights are lost:", [
  {
    title: "the role lacks listVirtualMachines",
    begin: ({ cloud }) => {
      const { role } = cloud.user;
      cloud.user.role = { name: "other", commands: ["listZones"] };
      return () => (cloud.user.role = role);
    },
  },
  {
    title: "the role lacks listVirtualMachines, as old servers say it",
    isVariant: true,
    begin: ({ cloud }) => {
      const { role } = cloud.user;
      cloud.settings.refusesBy = 401;
      cloud.user.role = { name: "other", commands: ["listZones"] };
      return () => (cloud.user.role = role);
    },
  },
  {
    title: "the user is disabled",
    isVariant: true,
    begin: ({ cloud }) => {
      cloud.user.isEnabled = false;
      return () => (cloud.user.isEnabled = true);
    },
  },
  {
    title: "the keys are those of another account",
    isVariant: true,
    begin: (rig) => rig.swapKeys("ops"),
  },
  {
    title: "the keys are those of an account in another domain",
    begin: (rig) => rig.swapKeys("stranger"),
  },
  {
    title: "the keys are those of an account that owns only one of two zones' machines",
    isMass: true,
    how: { isShared: true },
    begin: (rig) => rig.swapKeys("acme"),
    lists: ["alpha"],
    proves: ["alpha"],
  },
  {
    title: "files have the keys of another account",
    how: { hasKeyFiles: true },
    begin: (rig) => {
      rig.writeKeys(rig.findUser("ops"));
      return () => rig.writeKeys(rig.cloud.user);
    },
    forgets: true,
  },
  {
    title: "files have the keys of the owner, from whom an administrator hides one zone's machines",
    how: { isHidden: true, hasKeyFiles: true },
    begin: (rig) => {
      rig.writeKeys(rig.findUser("acme"));
      return () => rig.writeKeys(rig.cloud.user);
    },
    lists: ["beta"],
    forgets: true,
  },
  {
    title: "files have the keys of an account that owns only one of two zones' machines",
    how: { isShared: true, hasKeyFiles: true },
    begin: (rig) => {
      rig.writeKeys(rig.findUser("acme"));
      return () => rig.writeKeys(rig.cloud.user);
    },
    lists: ["alpha"],
    forgets: true,
  },
]);

describeCloudStackOutages("when the project", [
  {
    title: "is not known",
    isVariant: true,
    how: { project: "id" },
    begin: ({ cloud, project: { id } }) => {
      const text = toUnknownProject(id);
      return cloud.faults.set({ kind: "error", code: 431, text }, { value: id });
    },
  },
  {
    title: "is not shown, and its ID is not known",
    how: { project: "name" },
    begin: ({ cloud, project: { id } }) => {
      const text = toUnknownProject(id);
      cloud.faults.set({ kind: "error", code: 431, text }, { value: id });
      cloud.faults.set({ kind: "emptyList" }, { command: "listProjects" });
      return () => cloud.faults.clear();
    },
  },
  {
    title: "has lost the user as a member",
    how: { project: "id" },
    begin: ({ cloud: { state }, project: { id } }) => {
      const project = state.projects.get(id);
      const { memberIds = [] } = project ?? {};
      if (project) project.memberIds = [];
      return () => project && (project.memberIds = memberIds);
    },
  },
  {
    title: "has another name",
    how: { project: "name" },
    begin: ({ cloud: { state }, project: { id } }) => {
      const project = state.projects.get(id);
      const { name = "" } = project ?? {};
      if (project) project.name = "renamed";
      return () => project && (project.name = name);
    },
    lists: BOTH,
    proves: BOTH,
  },
]);

describeCloudStackOutages("when machines are not shown:", [
  {
    title: "an administrator hides those of Nodes that are Ready",
    isMass: true,
    ...toChange(READY, hide),
    lists: BOTH,
    proves: BOTH,
  },
  {
    title: "those of Nodes that are Ready are assigned to another account",
    isMass: true,
    ...toChange(
      READY,
      assignTo(({ accountIds }) => accountIds.ops),
    ),
    lists: BOTH,
    proves: BOTH,
  },
  {
    title: "they are assigned to a project",
    isMass: true,
    ...toChange(
      FALLEN,
      assignTo(({ project }) => project.accountId),
    ),
    lists: ["beta"],
    proves: BOTH,
  },
  {
    title: "a database that was restored from a backup lacks those of one zone",
    isMass: true,
    ...toChange(FALLEN, forget),
    lists: ["beta"],
    proves: BOTH,
  },
  {
    title: "another CloudStack answers, which never had one of them",
    ...toChange(LIVE, forget),
  },
]);

describeCloudStackOutages("when nothing tells it from the truth for 45 s:", [
  {
    title: "an administrator hides them",
    ...toChange(FALLEN, hide),
    lastsMs: SHORT_MS,
    lists: ["beta"],
    needsTime: true,
  },
  {
    title: "they are assigned to another account",
    ...toChange(
      FALLEN,
      assignTo(({ accountIds }) => accountIds.ops),
    ),
    lastsMs: SHORT_MS,
    lists: ["beta"],
    needsTime: true,
  },
  {
    title: "they are destroyed under the eyes of a user who does not see that, and recovered",
    ...toChange(FALLEN, setState("Destroyed")),
    lastsMs: SHORT_MS,
    lists: ["beta"],
    needsTime: true,
  },
  {
    title: "they are shown as Expunging, and that is taken back",
    begin: (rig) => {
      seeDestroyed(rig);
      return toChange(FALLEN, setState("Expunging")).begin(rig);
    },
    lastsMs: SHORT_MS,
    lists: ["beta"],
    needsTime: true,
  },
]);
