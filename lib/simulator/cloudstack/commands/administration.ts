/**
 * The commands by which a root administrator makes a role, an account with that role, and keys of its user.
 * @module
 */
import { toUuid } from "../../uuid.ts";
import { type AccountType, toAccount, toUser } from "../access/accounts.ts";
import { toUnavailable } from "../access/auth.ts";
import { toScope } from "../access/scope.ts";
import { ApiError, toInvalid } from "../replies.ts";
import {
  type Call,
  type Command,
  type List,
  needNamed,
  needText,
  toList,
  toOwner,
  type WantedJob,
} from "./call.ts";

/** The commands. */
export const ADMINISTRATION_COMMANDS: Readonly<Record<string, Command>> = {
  createRole: { kind: "answer", run: createRole },
  createRolePermission: { kind: "answer", run: createRolePermission },
  createAccount: { kind: "answer", run: createAccount },
  registerUserKeys: { kind: "answer", run: registerUserKeys },
  addAccountToProject: { kind: "job", run: addAccountToProject },
};

/** What accounts are, by the type of their role. */
const ACCOUNT_TYPES: ReadonlyMap<string, AccountType> = new Map([
  ["Admin", "admin"],
  ["DomainAdmin", "domainAdmin"],
  ["User", "user"],
]);

/** A new role allows nothing. */
function createRole(call: Call): object {
  checkRoot(call);
  const { parameters, state } = call;
  const name = needText(parameters, "name");
  const type = needText(parameters, "type");
  const accountType = ACCOUNT_TYPES.get(type);
  if (accountType === undefined) throw toInvalid("Invalid role type provided");
  const id = toUuid(`role/${name}`);
  if (state.roles.has(id)) throw toInvalid("Role already exists");
  state.roles.set(id, { name, accountType, commands: [] });
  return { role: { id, name, type, description: parameters.get("description") } };
}

function createRolePermission(call: Call): object {
  checkRoot(call);
  const { parameters, state } = call;
  const role = needNamed(parameters, "roleid", state.roles);
  const rule = needText(parameters, "rule");
  const permission = needText(parameters, "permission");
  if (permission !== "allow" && permission !== "deny") throw toInvalid("Invalid permission");
  if (permission === "allow") role.commands = [...role.commands, rule];
  const id = toUuid(`permission/${role.name}/${rule}`);
  return { rolepermission: { id, roleid: parameters.get("roleid"), rule, permission } };
}

/** The account has the name of its first user. */
function createAccount(call: Call): object {
  checkRoot(call);
  const { caller, parameters, state } = call;
  const username = needText(parameters, "username");
  for (const name of ["password", "email", "firstname", "lastname"]) needText(parameters, name);
  const role = needNamed(parameters, "roleid", state.roles);
  const domain = state.domains.get(parameters.get("domainid") ?? caller.account.domainId);
  if (domain === undefined) throw toInvalid("unable to find domain");
  const account = toAccount({ name: username, domain, type: role.accountType });
  if (state.accounts.has(account.id)) {
    throw toInvalid(`The specified account: ${username} already exists`);
  }
  const user = { ...toUser({ username, account }), role };
  state.accounts.set(account.id, account);
  state.users.set(user.id, user);
  const place = { domainid: domain.id, domain: domain.name };
  const users = [{ id: user.id, username, account: account.name, accountid: account.id, ...place }];
  return { account: { id: account.id, name: account.name, ...place, user: users } };
}

/** New keys; the ones before are invalid from then on. */
function registerUserKeys({ caller, parameters, state }: Call): object {
  const user = needNamed(parameters, "id", state.users);
  if (caller.account.type === "user" && user.id !== caller.user.id) {
    throw new ApiError(531, `Account ${caller.account.name} may not operate with the user`, 4365);
  }
  user.apiKey = `${user.apiKey}-2`;
  user.secretKey = `${user.secretKey}-2`;
  return { userkeys: { apikey: user.apiKey, secretkey: user.secretKey } };
}

function addAccountToProject(call: Call): WantedJob {
  checkRoot(call);
  const { parameters, state } = call;
  const project = needNamed(parameters, "projectid", state.projects);
  const name = needText(parameters, "account");
  const account = [...state.accounts.values()].find((one) => one.name === name);
  if (account === undefined) throw toInvalid(`Unable to find account ${name} in domain`);
  return {
    instanceType: "Project",
    instanceId: project.id,
    serialKey: project.id,
    run: () => {
      project.memberIds.push(account.id);
      return { success: true };
    },
  };
}

/** To everyone else these commands do not exist. */
function checkRoot({ caller: { account }, parameters: { command } }: Call): void {
  if (account.type !== "admin") throw new ApiError(432, toUnavailable(command, account));
}

/** The commands. */
export const USER_COMMANDS: Readonly<Record<string, Command>> = {
  listUsers: { kind: "list", run: listUsers },
};

function listUsers({ caller, parameters, state }: Call): List {
  const isOwned = toScope(caller.account, parameters, state);
  const found = [...state.users.values()].filter((user) => isOwned(user.accountId));
  return toList("user", found, ({ id, username, accountId, apiKey, isEnabled }) => ({
    id,
    username,
    ...toOwner(accountId, state),
    accountid: accountId,
    apikey: apiKey,
    state: isEnabled ? "enabled" : "disabled",
  }));
}
