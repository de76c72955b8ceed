/**
 * What the server says about itself and about projects.
 * @module
 */
import { findNamed, isSame, matches, toList, type Call, type Command, type List } from "./call.ts";

/** The commands. */
export const SERVER_COMMANDS: Readonly<Record<string, Command>> = {
  listCapabilities: { kind: "answer", run: listCapabilities },
  listProjects: { kind: "list", run: listProjects },
};

function listCapabilities({ caller: { account }, settings }: Call): object {
  const { throttling } = settings;
  const capability = {
    securitygroupsenabled: false,
    dynamicrolesenabled: true,
    cloudstackversion: settings.version,
    userpublictemplateenabled: true,
    supportELB: "false",
    projectinviterequired: false,
    allowusercreateprojects: true,
    customdiskofferingminsize: 1,
    customdiskofferingmaxsize: 1024,
    regionsecondaryenabled: false,
    kvmsnapshotenabled: false,
    ...(throttling && {
      apilimitinterval: Math.round(throttling.intervalMs / 1_000),
      apilimitmax: throttling.max,
    }),
    allowuserviewdestroyedvm: account.type !== "user" || account.seesDestroyed === true,
    allowuserexpungerecovervm: account.type !== "user",
    kubernetesserviceenabled: true,
    defaultuipagesize: 20,
  };
  return { capability };
}

function listProjects({ caller: { account }, parameters, state }: Call): List {
  const wanted = findNamed(parameters, "id", state.projects);
  const seesAll = account.type !== "user" && parameters.isTrue("listall");
  const projects = [...state.projects.values()].filter(
    (project) =>
      (seesAll || project.memberIds.includes(account.id)) &&
      (wanted === undefined || wanted === project) &&
      isSame(parameters.get("name"), project.name) &&
      isSame(parameters.get("state"), project.state) &&
      matches(parameters, project.name),
  );
  return toList("project", projects, (project) => ({
    id: project.id,
    name: project.name,
    displaytext: project.name,
    domainid: project.domainId,
    domain: state.domains.get(project.domainId)?.name,
    owner: project.memberIds.slice(0, 1).map((id) => ({ account: state.accounts.get(id)?.name })),
    projectaccountname: state.accounts.get(project.accountId)?.name,
    state: project.state,
    tags: [],
  }));
}
