import { describe, expect, test } from "bun:test";
import {
  toAccount,
  toDomain,
  toProject,
} from "../../../../lib/simulator/cloudstack/access/accounts.ts";
import { toScope } from "../../../../lib/simulator/cloudstack/access/scope.ts";
import { Parameters } from "../../../../lib/simulator/cloudstack/parameters.ts";
import { CloudStackState } from "../../../../lib/simulator/cloudstack/world/state.ts";

const root = toDomain("ROOT");
const sub = toDomain("sub", "/sub/");
const subsub = toDomain("subsub", "/sub/subsub/");
const user = toAccount({ name: "user", domain: sub });
const other = toAccount({ name: "other", domain: sub });
const below = toAccount({ name: "below", domain: subsub });
const above = toAccount({ name: "above", domain: root });
const domainAdmin = toAccount({ name: "da", domain: sub, type: "domainAdmin" });
const admin = toAccount({ name: "admin", domain: root, type: "admin" });
const own = toProject("own", sub, [user]);
const foreign = toProject("foreign", sub, [other]);
const accounts = [user, other, below, above, domainAdmin, admin, own.account, foreign.account];
const state = new CloudStackState({
  domains: [root, sub, subsub],
  accounts,
  projects: [own.project, foreign.project],
});

const NAMES: ReadonlyMap<string, string> = new Map([
  ...accounts.map(({ id, name }) => [id, name] as const),
  [own.account.id, "P-own"],
  [foreign.account.id, "P-foreign"],
]);
const PLAIN = ["user", "other", "below", "above", "da", "admin"];
const ALL = [...PLAIN, "P-own", "P-foreign"];

function list(caller: typeof user, fields: Record<string, string>): string[] | number {
  const parameters = new Parameters(
    new Map(Object.entries({ command: "listVirtualMachines", ...fields })),
  );
  try {
    const scope = toScope(caller, parameters, state);
    return accounts.filter(({ id }) => scope(id)).map(({ id }) => NAMES.get(id) ?? "");
  } catch (error) {
    return error instanceof Error && "code" in error ? Number(error.code) : 0;
  }
}

describe("toScope()", () => {
  const project = own.project.id;
  test.each<[string, typeof user, Record<string, string>, string[] | number]>([
    ["a user sees the own account", user, {}, ["user"]],
    ["a user sees no more with listall", user, { listall: "true" }, ["user"]],
    ["a user looks an ID up among the own objects only", user, { id: "x" }, ["user"]],
    ["a member sees a project", user, { projectid: project }, ["P-own"]],
    ["a user never sees a foreign project", user, { projectid: foreign.project.id }, 531],
    ["an unknown project", user, { projectid: "nope" }, 431],
    ["-1 stands for every project of the user", user, { projectid: "-1" }, ["P-own"]],
    [
      "-1 with listall adds the own account",
      user,
      { projectid: "-1", listall: "true" },
      ["user", "P-own"],
    ],
    ["-1 shows no project to an account without any", below, { projectid: "-1" }, []],
    [
      "-1 with listall shows the own account without projects",
      below,
      { projectid: "-1", listall: "true" },
      ["below"],
    ],
    ["another account is not a user's", user, { account: "other" }, 531],
    ["the own account by name", user, { account: "user" }, ["user"]],
    ["an unknown account", user, { account: "nope" }, 431],
    ["an account and a project", user, { account: "user", projectid: project }, 431],
    ["an unknown domain", user, { domainid: "nope" }, 431],
    ["another domain is not a user's", user, { domainid: root.id }, 531],
    ["a domain administrator sees the own account", domainAdmin, {}, ["da"]],
    [
      "with listall the domain and those below",
      domainAdmin,
      { listall: "true" },
      ["user", "other", "below", "da"],
    ],
    [
      "an ID is looked up in the whole domain, projects included",
      domainAdmin,
      { id: "x" },
      ["user", "other", "below", "da", "P-own", "P-foreign"],
    ],
    ["one domain of the own", domainAdmin, { domainid: subsub.id }, ["below"]],
    ["the domain above is not theirs", domainAdmin, { domainid: root.id }, 531],
    ["an account of the own domain", domainAdmin, { account: "other" }, ["other"]],
    ["any project of anybody's", domainAdmin, { projectid: foreign.project.id }, ["P-foreign"]],
    ["the root administrator sees the own account", admin, {}, ["admin"]],
    ["with listall every account", admin, { listall: "true" }, PLAIN],
    ["an ID is looked up everywhere", admin, { id: "x" }, ALL],
    ["-1 is every project", admin, { projectid: "-1" }, ["P-own", "P-foreign"]],
    ["-1 with listall is everything", admin, { projectid: "-1", listall: "true" }, ALL],
    [
      "a domain with those below",
      admin,
      { domainid: sub.id, isrecursive: "true" },
      ["user", "other", "below", "da"],
    ],
  ])("%s", (_name, caller, fields, expected) => {
    expect(list(caller, fields)).toEqual(expected);
  });
});
