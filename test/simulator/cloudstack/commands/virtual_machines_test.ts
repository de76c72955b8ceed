import { describe, expect, test } from "bun:test";
import { listEntries, listNames, type Fields } from "../../../support/cloud/cloudstack_asks.ts";
import { useCloudStack } from "../../../support/cloud/cloudstack_rig.ts";

const COMMAND = "listVirtualMachines";
const NODES = [
  "cp-1",
  "worker-1",
  "worker-2",
  "worker-dual",
  "worker-3",
  "worker-4",
  "Worker-Upper",
  "worker-fqdn",
];
const OWN = [...NODES, "bastion", "worker-10"];

describe("listVirtualMachines", () => {
  const rig = useCloudStack();
  const names = async (fields: Fields, username?: string): Promise<unknown[]> => {
    const answer = await rig.ask(COMMAND, fields, username === undefined ? {} : { username });
    return listNames(answer, "virtualmachine");
  };

  test.each<[string, Fields, string[]]>([
    ["nothing", {}, OWN],
    ["a name", { name: "worker-1" }, ["worker-1"]],
    ["a name in another case", { name: "WORKER-1" }, ["worker-1"]],
    ["a part of a name", { name: "worker" }, []],
    ["a keyword", { keyword: "worker-1" }, ["worker-1", "worker-10"]],
    ["an address as keyword", { keyword: "10.10.0.5" }, ["bastion"]],
    ["a state as keyword", { keyword: "stopped" }, ["worker-10"]],
    ["a state", { state: "Stopped" }, ["worker-10"]],
    ["the state present", { state: "present", keyword: "worker-1" }, ["worker-1", "worker-10"]],
    ["an empty ID, which is no filter", { id: "" }, OWN],
    ["a page", { page: "2", pagesize: "9" }, ["worker-10"]],
  ])("asked with %s", async (_name, fields, expected) => {
    expect(await names({ listall: "true", ...fields })).toEqual(expected);
  });

  test("asked for a zone, a network or an offering", async () => {
    const { zoneIds, offeringIds } = rig.story;
    const { networks } = rig.simulator.state;
    const storage = [...networks.values()].find(({ name }) => name === "storage-paris");
    expect(await names({ zoneid: zoneIds.lyon })).toEqual(NODES.slice(4));
    expect(await names({ serviceofferingid: offeringIds.large })).toEqual(["cp-1", "worker-dual"]);
    expect(await names({ networkid: storage?.id ?? "" })).toEqual(["worker-dual"]);
  });

  test("compares parts of names as older versions do, by a setting", async () => {
    rig.simulator.settings.nameMatch = "part";
    expect(await names({ name: "orker-1" })).toEqual(["worker-1", "worker-10"]);
  });

  test("is cut at the largest page, with the whole count", async () => {
    rig.simulator.settings.defaultPageSize = 4;
    const answer = await rig.ask(COMMAND);
    expect(answer.body["count"]).toBe(OWN.length);
    expect(listNames(answer, "virtualmachine")).toEqual(OWN.slice(0, 4));
    expect((await rig.ask(COMMAND, { page: "1", pagesize: "5" })).status).toBe(431);
    expect((await rig.ask(COMMAND, { page: "9", pagesize: "4" })).body).toEqual({
      count: OWN.length,
    });
  });

  test("finds by ID and by several", async () => {
    const [one = "", two = ""] = [rig.idOf("worker-1"), rig.idOf("worker-3")];
    expect(await names({ id: one.toUpperCase() })).toEqual(["worker-1"]);
    expect(await names({ ids: `${one},${two}` })).toEqual(["worker-1", "worker-3"]);
    expect((await rig.ask(COMMAND, { id: one, ids: two })).status).toBe(431);
  });

  test("never knew an ID: 431 in the server's words", async () => {
    const id = "00000000-1111-5222-8333-444444444444";
    const answer = await rig.ask(COMMAND, { id });
    expect([answer.status, answer.key, answer.body["errorcode"]]).toEqual([
      431,
      "listvirtualmachinesresponse",
      431,
    ]);
    expect(answer.body["errortext"]).toContain(
      `Invalid parameter id value=${id} due to incorrect long value format, or entity does not exist`,
    );
    expect((await rig.ask(COMMAND, { ids: `${rig.idOf("cp-1")},${id}` })).status).toBe(431);
  });

  test("knew an ID once: an empty list for what was expunged, 431 for what was purged", async () => {
    const { state } = rig.simulator;
    const id = rig.idOf("worker-1");
    state.expunge(id);
    const answer = await rig.ask(COMMAND, { id });
    expect([answer.status, answer.body]).toEqual([200, {}]);
    expect(await names({}, "admin")).toEqual([]);
    expect(await names({ listall: "true" }, "admin")).not.toContain("worker-1");
    state.purge(id);
    expect((await rig.ask(COMMAND, { id })).status).toBe(431);
  });

  test("hides from the owner what is Destroyed or Expunging, unless the account may see it", async () => {
    const { state } = rig.simulator;
    const id = rig.idOf("worker-1");
    for (const gone of ["Destroyed", "Expunging"] as const) {
      state.setState(id, gone);
      expect(await names({ id })).toEqual([]);
      expect(await names({ id }, "admin")).toEqual(["worker-1"]);
    }
    const account = state.accounts.get(rig.story.accountIds.acme);
    if (account !== undefined) account.seesDestroyed = true;
    expect(await names({ id })).toEqual(["worker-1"]);
  });

  test("shows to the root administrator alone what an administrator hid", async () => {
    const id = rig.idOf("worker-1");
    rig.simulator.state.hide(id);
    expect(await names({ id })).toEqual([]);
    expect(await names({ id }, "admin")).toEqual(["worker-1"]);
    rig.simulator.state.hide(id, false);
    expect(await names({ id })).toEqual(["worker-1"]);
  });

  test("answers with the same empty list after a machine was assigned to another account", async () => {
    const { state } = rig.simulator;
    const id = rig.idOf("worker-1");
    state.assign(id, rig.story.accountIds.ops);
    expect((await rig.ask(COMMAND, { id })).body).toEqual({});
    expect((await rig.ask(COMMAND, { id, projectid: "-1", listall: "true" })).body).toEqual({});
    expect(await names({ id }, "ops")).toEqual(["worker-1"]);
    expect(state.vm(id).nics).toEqual([]);
  });

  test("shows a machine of a project by its project only", async () => {
    const id = rig.idOf("runner");
    const projectid = rig.story.projectId;
    expect(await names({ id, listall: "true" })).toEqual([]);
    expect(await names({ id, projectid })).toEqual(["runner"]);
    expect(await names({ id, projectid: "-1" })).toEqual(["runner"]);
    expect((await rig.ask(COMMAND, { projectid }, { username: "ops" })).status).toBe(531);
    const [entry] = listEntries(await rig.ask(COMMAND, { projectid }), "virtualmachine");
    expect(entry).toMatchObject({ projectid, project: "platform" });
    expect(entry).not.toHaveProperty("account");
  });

  test("refuses a detail that does not exist", async () => {
    expect((await rig.ask(COMMAND, { details: "min,nics,servoff" })).status).toBe(200);
    expect((await rig.ask(COMMAND, { details: "min,nic" })).body["errortext"]).toContain(
      "non permitted value",
    );
  });
});
