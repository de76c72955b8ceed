import { expect, test } from "bun:test";
import {
  isAllowed,
  toAccount,
  toDomain,
  toProject,
  toUser,
} from "../../../../lib/simulator/cloudstack/access/accounts.ts";

const domain = toDomain("ROOT");
const account = toAccount({ name: "acme", domain });

test("toAccount() and toDomain() keep names of different domains and types apart", () => {
  const below = toDomain("ops", "/ops/");
  const ids = [
    account.id,
    toAccount({ name: "acme", domain: below }).id,
    toAccount({ name: "acme", domain, type: "project" }).id,
  ];
  expect(new Set(ids).size).toBe(3);
  expect([domain.path, below.path]).toEqual(["/", "/ops/"]);
});

test("toProject() owns by an account of its own", () => {
  const { project, account: owner } = toProject("platform", domain, [account]);
  expect(project).toMatchObject({ accountId: owner.id, memberIds: [account.id], state: "Active" });
  expect(owner).toMatchObject({ type: "project", domainId: domain.id });
});

test("toUser() makes keys that differ, and takes given ones", () => {
  const user = toUser({ username: "kube", account });
  expect(user.apiKey).toMatch(/^[\w-]{86}$/);
  expect(user.apiKey).not.toBe(user.secretKey);
  expect(user.apiKey).not.toBe(toUser({ username: "other", account }).apiKey);
  expect(toUser({ username: "kube", account, apiKey: "A", secretKey: "S" })).toMatchObject({
    apiKey: "A",
    secretKey: "S",
  });
});

test.each<[readonly string[], string, boolean]>([
  [["*"], "listZones", true],
  [["list*"], "listZones", true],
  [["list*"], "startVirtualMachine", false],
  [["listZones"], "listZones", true],
  [["listZones"], "listZonesMetrics", false],
  [[], "listZones", false],
])("isAllowed(%j) of %s: %p", (commands, command, allowed) => {
  expect(isAllowed({ name: "r", commands }, command)).toBe(allowed);
});
