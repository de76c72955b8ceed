import { describe, expect, test } from "bun:test";
import { type Answer, type Fields, listNames } from "../../../support/cloud/cloudstack_asks.ts";
import { useCloudStack } from "../../../support/cloud/cloudstack_rig.ts";

const PERSON = { password: "pw", email: "a@example.org", firstname: "A", lastname: "B" };

describe("commands of an administrator", () => {
  const rig = useCloudStack();
  const asRoot = (command: string, fields: Fields): Promise<Answer> =>
    rig.ask(command, fields, { username: "admin" });

  /** Makes a role that may list machines, and an account with it. */
  const makeReader = async (type: string): Promise<void> => {
    const role = toId(await asRoot("createRole", { name: "reader", type }), "role");
    const rule = { roleid: role, rule: "listVirtualMachines", permission: "allow" };
    expect((await asRoot("createRolePermission", rule)).body["rolepermission"]).toMatchObject(rule);
    const answer = await asRoot("createAccount", { username: "reader", roleid: role, ...PERSON });
    expect(answer.body["account"]).toMatchObject({ name: "reader", user: [expect.anything()] });
  };
  const listVms = async (): Promise<Answer> =>
    await rig.ask("listVirtualMachines", { listall: "true" }, { username: "reader" });

  test.each([
    ["User", []],
    ["DomainAdmin", expect.arrayContaining(["build", "worker-1"])],
  ])(
    "an account with a new role of type %s sees %j and has no other command",
    async (type, vms) => {
      await makeReader(type);
      expect(listNames(await listVms(), "virtualmachine")).toEqual(vms);
      const stop = await rig.ask("stopVirtualMachine", { id: "x" }, { username: "reader" });
      expect(stop.status).toBe(432);
    },
  );

  test("addAccountToProject shows the machines of the project", async () => {
    await makeReader("User");
    const projectid = rig.story.projectId;
    await asRoot("addAccountToProject", { projectid, account: "reader" });
    await rig.clock.advance(200);
    const answer = await rig.ask(
      "listVirtualMachines",
      { listall: "true", projectid },
      { username: "reader" },
    );
    expect(listNames(answer, "virtualmachine")).toEqual(["runner"]);
  });

  test("registerUserKeys gives new keys, for one's own user only", async () => {
    const { apiKey, id } = rig.simulator.user;
    const other = await rig.ask("registerUserKeys", { id }, { username: "ops" });
    expect(other.status).toBe(531);
    const { body } = await rig.ask("registerUserKeys", { id }, { username: "kubeadmin" });
    expect(body["userkeys"]).toEqual({
      apikey: rig.simulator.apiKey,
      secretkey: rig.simulator.secretKey,
    });
    expect(rig.simulator.apiKey).not.toBe(apiKey);
  });

  test("only the root administrator makes roles and accounts, with all that they need", async () => {
    const role = { name: "x", type: "User" };
    expect((await rig.ask("createRole", role)).status).toBe(432);
    expect((await asRoot("createRole", { name: "x", type: "Nobody" })).status).toBe(431);
    const roleid = toId(await asRoot("createRole", role), "role");
    expect((await asRoot("createRole", role)).status).toBe(431);
    expect((await asRoot("createAccount", { username: "x", roleid })).status).toBe(431);
    expect((await asRoot("createAccount", { username: "x", ...PERSON })).status).toBe(431);
  });
});

function toId({ body }: Answer, key: string): string {
  const object = body[key];
  return typeof object === "object" && object !== null && "id" in object ? String(object.id) : "";
}
