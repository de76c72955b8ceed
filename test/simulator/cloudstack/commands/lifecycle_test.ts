import { describe, expect, test } from "bun:test";
import type { VmState } from "../../../../lib/simulator/cloudstack/mod.ts";
import type { Fields } from "../../../support/cloud/cloudstack_asks.ts";
import { useCloudStack } from "../../../support/cloud/cloudstack_rig.ts";

describe("commands that change a virtual machine", () => {
  const rig = useCloudStack();
  const stateOf = (id: string): VmState => rig.simulator.state.vm(id).state;

  /** Runs a command as a user; the states while its job runs and afterwards, and how the job ended. */
  async function run(
    command: string,
    fields: Fields,
    username = "kubeadmin",
  ): Promise<[VmState, VmState, unknown]> {
    const answer = await rig.ask(command, fields, { method: "POST", username });
    const jobid = String(answer.body["jobid"]);
    await rig.clock.advance(1);
    const during = stateOf(fields["id"] ?? "");
    await rig.clock.advance(rig.simulator.settings.jobMs);
    const job = await rig.ask("queryAsyncJobResult", { jobid }, { username: "admin" });
    return [during, stateOf(fields["id"] ?? ""), job.body["jobstatus"]];
  }

  test.each<[string, VmState, VmState, VmState]>([
    ["startVirtualMachine", "Stopped", "Starting", "Running"],
    ["stopVirtualMachine", "Running", "Stopping", "Stopped"],
    ["destroyVirtualMachine", "Running", "Stopping", "Destroyed"],
  ])("%s takes %s by way of %s to %s", async (command, from, during, to) => {
    const id = rig.idOf("worker-1");
    rig.simulator.state.setState(id, from);
    expect(await run(command, { id })).toEqual([during, to, 1]);
  });

  test("a job ends with the machine as it is then", async () => {
    const id = rig.idOf("worker-1");
    const { body } = await rig.ask("stopVirtualMachine", { id });
    await rig.clock.advance(200);
    const job = await rig.ask("queryAsyncJobResult", { jobid: String(body["jobid"]) });
    expect(job.body).toMatchObject({
      jobstatus: 1,
      jobresultcode: 0,
      jobresulttype: "object",
      jobinstancetype: "VirtualMachine",
      jobinstanceid: id,
      jobresult: { virtualmachine: { id, state: "Stopped", nic: [{}] } },
    });
  });

  test("a machine in the wrong state fails the job and stays as it is", async () => {
    const id = rig.idOf("worker-1");
    expect(await run("startVirtualMachine", { id })).toEqual(["Running", "Running", 2]);
  });

  test("an expunged machine is known by its ID alone; only administrators may do it", async () => {
    const id = rig.idOf("worker-1");
    const refused = await rig.ask("destroyVirtualMachine", { id, expunge: "true" });
    expect([refused.status, stateOf(id)]).toEqual([531, "Running"]);
    expect((await rig.ask("expungeVirtualMachine", { id })).status).toBe(531);

    await run("destroyVirtualMachine", { id });
    expect(await run("expungeVirtualMachine", { id }, "admin")).toEqual([
      "Expunging",
      "Expunging",
      1,
    ]);
    expect((await rig.ask("listVirtualMachines", { id })).body).toEqual({});
    expect((await rig.ask("startVirtualMachine", { id })).status).toBe(431);

    const other = rig.idOf("worker-2");
    await run("destroyVirtualMachine", { id: other, expunge: "true" }, "admin");
    expect((await rig.ask("listVirtualMachines", { id: other })).body).toEqual({});
  });

  test("recoverVirtualMachine brings back what is Destroyed, and nothing else", async () => {
    const id = rig.idOf("worker-1");
    const options = { username: "admin" };
    expect((await rig.ask("recoverVirtualMachine", { id }, options)).status).toBe(431);
    await run("destroyVirtualMachine", { id });
    expect((await rig.ask("recoverVirtualMachine", { id })).status).toBe(531);
    const { body } = await rig.ask("recoverVirtualMachine", { id }, options);
    expect(body["virtualmachine"]).toMatchObject({ id, state: "Stopped" });
  });

  test("assignVirtualMachine gives a stopped machine to an account or a project", async () => {
    const id = rig.idOf("worker-1");
    const { acme, ops } = rig.story.accountIds;
    const assign = async (fields: Fields, username = "admin"): Promise<[number, string]> => {
      const all = { virtualmachineid: id, ...fields };
      const { status } = await rig.ask("assignVirtualMachine", all, { username });
      return [status, rig.simulator.state.vm(id).accountId];
    };
    expect(await assign({ account: "ops" })).toEqual([431, acme]);
    rig.simulator.state.setState(id, "Stopped");
    expect(await assign({ account: "ops" }, "kubeadmin")).toEqual([531, acme]);
    expect(await assign({ account: "nope" })).toEqual([431, acme]);
    expect(await assign({ account: "ops" })).toEqual([200, ops]);
    const project = rig.simulator.state.projects.get(rig.story.projectId);
    expect(await assign({ projectid: rig.story.projectId })).toEqual([
      200,
      project?.accountId ?? "",
    ]);
  });

  test("another account's machine is refused, a project's is a member's", async () => {
    const { vms } = rig.simulator.state;
    const foreign = [...vms.values()].find((vm) => vm.accountId === rig.story.accountIds.ops);
    expect((await rig.ask("stopVirtualMachine", { id: foreign?.id ?? "" })).status).toBe(531);
    expect((await rig.ask("stopVirtualMachine", { id: rig.idOf("runner") })).status).toBe(200);
    expect((await rig.ask("stopVirtualMachine")).body["errortext"]).toContain(
      "missing parameter id",
    );
  });

  test("a server that shuts down takes no job, and still answers", async () => {
    rig.simulator.settings.isShuttingDown = true;
    const { status, body } = await rig.ask("stopVirtualMachine", { id: rig.idOf("worker-1") });
    expect([status, body["errortext"]]).toEqual([503, expect.stringContaining("new jobs")]);
    expect((await rig.ask("listZones")).status).toBe(200);
  });

  test("faults make a job endless, or make it fail without a change", async () => {
    const id = rig.idOf("worker-1");
    const { faults, jobs } = rig.simulator;
    faults.set({ kind: "failedJob", code: 530, text: "no host" }, { times: 1 });
    expect(await run("stopVirtualMachine", { id })).toEqual(["Running", "Running", 2]);
    faults.set({ kind: "endlessJob" }, { command: "stopVirtualMachine", times: 1 });
    expect(await run("stopVirtualMachine", { id })).toEqual(["Stopping", "Stopping", 0]);
    const held = [...jobs.all.values()].at(-1);
    jobs.release(held?.id ?? "");
    await rig.clock.advance(200);
    expect([stateOf(id), held?.status]).toEqual(["Stopped", 1]);
  });
});
