/**
 * Who owns what in the simulated CloudStack, and who may ask: domains, accounts, projects, roles and users.
 * @module
 */
import { toUuid } from "../../uuid.ts";

/** A domain. Its path begins with `/` and ends with `/`: `/` for ROOT, `/ops/` below it. */
export interface Domain {
  readonly id: string;
  readonly name: string;
  readonly path: string;
}

/**
 * What an account may see: its own objects, its domain and those below, or everything. A project owns its objects by an
 * account.
 */
export type AccountType = "user" | "domainAdmin" | "admin" | "project";

/** An account: the owner of objects. */
export interface Account {
  readonly id: string;
  readonly name: string;
  readonly domainId: string;
  readonly type: AccountType;
  /** Whether its users see virtual machines that are Destroyed or Expunging; administrators always do. */
  seesDestroyed?: boolean;
}

/** A project: its objects belong to an account of its own. */
export interface Project {
  readonly id: string;
  name: string;
  readonly accountId: string;
  readonly domainId: string;
  /** Accounts that may use it. */
  memberIds: string[];
  state: "Active" | "Suspended";
}

/** The commands that a role allows: exact names, or a beginning with `*`. */
interface Role {
  readonly name: string;
  commands: readonly string[];
}

/** A role that an administrator made, and what accounts with it may see. */
export interface MadeRole extends Role {
  readonly accountType: AccountType;
}

/** A user with an API key. Keys can be replaced in place. */
export interface User {
  readonly id: string;
  readonly username: string;
  readonly accountId: string;
  apiKey: string;
  secretKey: string;
  role: Role;
  isEnabled: boolean;
}

/** What {@linkcode toAccount} needs. */
interface AccountOptions {
  readonly name: string;
  readonly domain: Domain;
  /** @default {"user"} */
  readonly type?: AccountType;
  readonly seesDestroyed?: boolean;
}

/** What {@linkcode toUser} needs. */
interface UserOptions {
  readonly username: string;
  readonly account: Account;
  /** @default {every command} */
  readonly commands?: readonly string[];
  /** @default {made of the name} */
  readonly apiKey?: string;
  /** @default {made of the name} */
  readonly secretKey?: string;
}

/** A domain; `path` names the domains above it. */
export function toDomain(name: string, path: string = "/"): Domain {
  return { id: toUuid(`domain/${path}/${name}`), name, path };
}

/** An account. */
export function toAccount({ name, domain, type = "user", seesDestroyed }: AccountOptions): Account {
  const id = toUuid(`account/${domain.path}/${type}/${name}`);
  return { id, name, domainId: domain.id, type, ...(seesDestroyed && { seesDestroyed }) };
}

/** A project and the account that owns its objects. */
export function toProject(
  name: string,
  domain: Domain,
  members: readonly Account[],
): { readonly project: Project; readonly account: Account } {
  const account = toAccount({ name: `PrjAcct-${name}-1`, domain, type: "project" });
  const memberIds = members.map(({ id }) => id);
  const project: Project = {
    id: toUuid(`project/${name}`),
    name,
    accountId: account.id,
    domainId: domain.id,
    memberIds,
    state: "Active",
  };
  return { project, account };
}

/** A user. Keys have the length of real ones. */
export function toUser(options: UserOptions): User {
  const { username, account, commands = ["*"] } = options;
  return {
    id: toUuid(`user/${account.id}/${username}`),
    username,
    accountId: account.id,
    apiKey: options.apiKey ?? toKey(`api/${account.name}/${username}`),
    secretKey: options.secretKey ?? toKey(`secret/${account.name}/${username}`),
    role: { name: commands.includes("*") ? "User" : `${username}-role`, commands },
    isEnabled: true,
  };
}

/** Whether a role allows a command; names of commands are compared as they are. */
export function isAllowed(role: Role, command: string): boolean {
  return role.commands.some((one) =>
    one.endsWith("*") ? command.startsWith(one.slice(0, -1)) : one === command,
  );
}

function toKey(name: string): string {
  const hex = `${toUuid(name)}${toUuid(`${name}/2`)}`.replaceAll("-", "");
  return Buffer.from(`${hex}${hex}`.slice(0, 64)).toString("base64url");
}
