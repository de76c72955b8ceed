import { describe, expect, test } from "bun:test";
import { listEntries, type Fields } from "../../../support/cloud/cloudstack_asks.ts";
import { useCloudStack } from "../../../support/cloud/cloudstack_rig.ts";

describe("commands about jobs", () => {
  const rig = useCloudStack();

  test("listAsyncJobs lists jobs of the account, by class and date, running and ended", async () => {
    const id = rig.idOf("worker-1");
    const since = async (): Promise<string> => {
      await rig.clock.advance(60_000);
      return new Date(rig.clock.now()).toISOString().replace(/\.\d+Z$/, "+0000");
    };
    const list = async (fields: Fields = {}, username = "kubeadmin") =>
      listEntries(await rig.ask("listAsyncJobs", fields, { username }), "asyncjobs");
    const classes = async (fields: Fields = {}, username?: string): Promise<unknown[]> =>
      (await list(fields, username)).map((job) => String(job["cmd"]).split(".").at(-1));

    await rig.change("stopVirtualMachine", { id });
    const startdate = await since();
    const tags = { "tags[0].key": "a", "tags[0].value": "b" };
    await rig.change("createTags", { resourceids: id, resourcetype: "UserVm", ...tags });
    await rig.ask("startVirtualMachine", { id });
    const all = ["StopVMCmd", "CreateTagsCmd", "StartVMCmd"];
    expect(await classes()).toEqual(all);
    expect(await classes({ startdate })).toEqual(all.slice(1));
    expect(await classes({ startdate: startdate.replace("T", " ").slice(0, 19) })).toHaveLength(2);
    expect(await classes({ startdate: startdate.slice(0, 10) })).toEqual(all);
    expect((await rig.ask("listAsyncJobs", { startdate: "yesterday" })).status).toBe(431);
    expect(await classes({ keyword: "stopvm" })).toEqual(["StopVMCmd"]);
    expect(await classes({ page: "2", pagesize: "2" })).toEqual(["StartVMCmd"]);
    expect(await classes({ listall: "true" }, "ops")).toEqual([]);
    expect(await classes({ listall: "true" }, "admin")).toEqual(all);

    const [stopped, tagged, starting] = await list();
    expect(stopped).toMatchObject({
      userid: rig.simulator.user.id,
      accountid: rig.simulator.user.accountId,
      account: "acme",
      jobinstanceid: id,
      jobstatus: 1,
      jobid: expect.any(String),
      created: expect.stringMatching(/\+0000$/),
    });
    expect(tagged).not.toHaveProperty("jobinstanceid");
    expect(starting).toMatchObject({ jobstatus: 0 });
    expect(starting).not.toHaveProperty("jobresult");
  });

  test("queryAsyncJobResult answers for jobs of the account", async () => {
    const { body } = await rig.ask("stopVirtualMachine", { id: rig.idOf("worker-1") });
    const jobid = String(body["jobid"]);
    const job = await rig.ask("queryAsyncJobResult", { jobid });
    expect([job.status, job.body["jobstatus"], job.body["jobid"]]).toEqual([200, 0, jobid]);
    expect((await rig.ask("queryAsyncJobResult", { jobid }, { username: "ops" })).status).toBe(531);
    expect((await rig.ask("queryAsyncJobResult", { jobid }, { username: "admin" })).status).toBe(
      200,
    );
    expect((await rig.ask("queryAsyncJobResult")).status).toBe(431);
    rig.simulator.jobs.forget(jobid);
    expect((await rig.ask("queryAsyncJobResult", { jobid })).status).toBe(431);
  });
});
