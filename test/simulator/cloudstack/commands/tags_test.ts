import { describe, expect, test } from "bun:test";
import { listEntries, type Fields } from "../../../support/cloud/cloudstack_asks.ts";
import { useCloudStack } from "../../../support/cloud/cloudstack_rig.ts";

describe("commands about tags", () => {
  const rig = useCloudStack();
  const IP = "192.0.2.10";
  const ipId = (address = IP): string =>
    [...rig.simulator.state.publicIps.values()].find((ip) => ip.address === address)?.id ?? "";

  /** Runs a command to its end. Status and code of its job. */
  async function run(command: string, fields: Fields, username = "kubeadmin"): Promise<unknown[]> {
    const answer = await rig.ask(command, fields, { method: "POST", username });
    if (answer.status !== 200) return [answer.status];
    await rig.clock.advance(rig.simulator.settings.jobMs);
    const jobid = String(answer.body["jobid"]);
    const { body } = await rig.ask("queryAsyncJobResult", { jobid }, { username: "admin" });
    return [body["jobstatus"], body["jobresultcode"]];
  }

  const toFields = (resourceids: string, tags: Fields, more: Fields = {}): Fields => {
    const pairs = Object.entries(tags).flatMap(([key, value], index) => [
      [`tags[${index}].key`, key],
      [`tags[${index}].value`, value],
    ]);
    return { resourceids, resourcetype: "PublicIpAddress", ...Object.fromEntries(pairs), ...more };
  };
  const tagsOf = (id: string): Fields =>
    Object.fromEntries(rig.simulator.state.tags.of(id).map(({ key, value }) => [key, value]));

  test("createTags puts tags on objects, which their answers show", async () => {
    expect(await run("createTags", toFields(ipId(), { "k/1": "a", two: "b c" }))).toEqual([1, 0]);
    const [ip] = listEntries(await rig.ask("listPublicIpAddresses"), "publicipaddress");
    const shown = [
      { key: "k/1", value: "a", resourcetype: "PublicIpAddress", resourceid: ipId() },
      { key: "two", value: "b c", account: "acme" },
    ];
    expect(ip?.["tags"]).toMatchObject(shown);
    const id = rig.idOf("worker-1");
    expect(await run("createTags", toFields(id, { a: "b" }, { resourcetype: "uservm" }))).toEqual([
      1, 0,
    ]);
    const vms = await rig.ask("listVirtualMachines", { id });
    expect(listEntries(vms, "virtualmachine")).toMatchObject([{ tags: [{ key: "a" }] }]);
  });

  test("a key that is there is refused, and with it the whole request", async () => {
    await run("createTags", toFields(ipId(), { k: "a" }));
    const ids = `${ipId("192.0.2.11")},${ipId()}`;
    expect(await run("createTags", toFields(ids, { x: "y", K: "a" }))).toEqual([2, 530]);
    expect(await run("createTags", toFields(`${ipId()},${ipId()}`, { x: "y" }))).toEqual([2, 530]);
    expect([tagsOf(ipId()), tagsOf(ipId("192.0.2.11"))]).toEqual([{ k: "a" }, {}]);
  });

  test.each<[string, Fields, unknown[]]>([
    ["another account's object", { resourceids: "own" }, [2, 530]],
    ["an unknown object", { resourceids: "none" }, [2, 431]],
    ["an unknown kind", { resourcetype: "Nothing" }, [2, 431]],
    ["a tag without a value", { "tags[0].value": "" }, [2, 431]],
    ["a tag without a key", { "tags[0].key": "" }, [2, 431]],
    ["no object", { resourceids: "" }, [431]],
    ["no kind", { resourcetype: "" }, [431]],
  ])("createTags refuses %s", async (_, fields, expected) => {
    const more = { ...fields, ...(fields["resourceids"] === "own" && { resourceids: ipId() }) };
    const username = fields["resourceids"] === "own" ? "ops" : "kubeadmin";
    const all = toFields(ipId(), { k: "a" }, more);
    expect(await run("createTags", all, username)).toEqual(expected);
    expect(rig.simulator.state.tags.all).toEqual([]);
  });

  test("createTags refuses a request without tags", async () => {
    expect(await run("createTags", toFields(ipId(), {}))).toEqual([431]);
  });

  test("a free address belongs to nobody, so that only an administrator tags it", async () => {
    const fields = toFields(ipId("192.0.2.12"), { k: "a" });
    expect(await run("createTags", fields)).toEqual([2, 530]);
    expect(await run("createTags", fields, "admin")).toEqual([1, 0]);
  });

  test("deleteTags deletes by key, by key and value, or all; none is a failure", async () => {
    await run("createTags", toFields(ipId(), { a: "1", b: "2", c: "3" }));
    expect(await run("deleteTags", toFields(ipId(), { A: "1" }))).toEqual([1, 0]);
    expect(await run("deleteTags", toFields(ipId(), { b: "other" }))).toEqual([2, 530]);
    expect(await run("deleteTags", toFields(ipId(), { b: "2" }), "ops")).toEqual([2, 530]);
    expect(tagsOf(ipId())).toEqual({ b: "2", c: "3" });
    expect(await run("deleteTags", toFields(ipId(), { b: "" }))).toEqual([2, 530]);
    const anyValue = toFields(ipId(), {}, { "tags[0].key": "b" });
    expect(await run("deleteTags", anyValue)).toEqual([1, 0]);
    expect(await run("deleteTags", toFields(ipId(), {}))).toEqual([1, 0]);
    expect(await run("deleteTags", toFields(ipId(), {}))).toEqual([2, 530]);
    expect(tagsOf(ipId())).toEqual({});
  });

  test("listTags lists what the caller sees, by key, value and object", async () => {
    await run("createTags", toFields(`${ipId()},${ipId("192.0.2.11")}`, { a: "1", b: "2" }));
    const list = async (fields: Fields, username = "kubeadmin"): Promise<number> =>
      listEntries(await rig.ask("listTags", fields, { username }), "tag").length;
    expect(await list({})).toBe(4);
    expect(await list({ key: "a" })).toBe(2);
    expect(await list({ key: "a", value: "2" })).toBe(0);
    expect(await list({ resourceid: ipId(), resourcetype: "PublicIpAddress" })).toBe(2);
    expect(await list({ resourcetype: "UserVm" })).toBe(0);
    expect(await list({ page: "2", pagesize: "3" })).toBe(1);
    expect(await list({ listall: "true" }, "ops")).toBe(0);
    expect(await list({ listall: "true" }, "admin")).toBe(4);
  });

  test("lists keep objects with one of the tags that are asked for", async () => {
    await run("createTags", toFields(ipId(), { a: "1" }));
    await run("createTags", toFields(ipId("192.0.2.11"), { b: "2" }));
    const list = async (tags: Fields): Promise<unknown[]> => {
      const { resourceids: _, resourcetype: __, ...fields } = toFields("", tags);
      const answer = await rig.ask("listPublicIpAddresses", fields);
      return listEntries(answer, "publicipaddress").map((ip) => ip["ipaddress"]);
    };
    expect(await list({ a: "1" })).toEqual([IP]);
    expect(await list({ a: "1", b: "2" })).toEqual([IP, "192.0.2.11"]);
    expect(await list({ a: "2" })).toEqual([]);
  });

  test("two jobs that add the same key: the second fails", async () => {
    const fields = toFields(ipId(), { a: "1" });
    const first = await rig.ask("createTags", fields, { method: "POST" });
    expect(await run("createTags", fields)).toEqual([2, 530]);
    const jobid = String(first.body["jobid"]);
    const { body } = await rig.ask("queryAsyncJobResult", { jobid });
    expect(body).toMatchObject({ jobstatus: 1, jobinstancetype: "None" });
    expect(body).not.toHaveProperty("jobinstanceid");
  });
});
