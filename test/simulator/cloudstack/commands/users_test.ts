import { describe, expect, test } from "bun:test";
import { toUser } from "../../../../lib/simulator/cloudstack/access/accounts.ts";
import { listEntries } from "../../../support/cloud/cloudstack_asks.ts";
import { useCloudStack } from "../../../support/cloud/cloudstack_rig.ts";

describe("listUsers", () => {
  const rig = useCloudStack();

  test("lists the users of the account with their keys and without their secrets", async () => {
    const { state, user } = rig.simulator;
    const account = state.accounts.get(user.accountId);
    if (account === undefined) throw new Error("The user has no account");
    const other = toUser({ username: "deployer", account });
    state.users.set(other.id, other);
    const answer = await rig.ask("listUsers");
    expect(listEntries(answer, "user")).toMatchObject([
      { id: user.id, username: "kubeadmin", account: "acme", apikey: user.apiKey },
      { id: other.id, username: "deployer", account: "acme", apikey: other.apiKey },
    ]);
    expect(JSON.stringify(answer.body)).not.toContain(user.secretKey);
  });

  test("an administrator sees all of them when asked for all", async () => {
    const names = listEntries(
      await rig.ask("listUsers", { listall: "true" }, { username: "admin" }),
      "user",
    ).map((one) => one["account"]);
    expect(names).toEqual(expect.arrayContaining(["acme", "ops", "admin"]));
  });
});
