import { describe, expect, test } from "bun:test";
import {
  createDemoWorld,
  startCloudStackSimulator,
  type Fault,
} from "../../../lib/simulator/cloudstack/mod.ts";
import { ask, listNames, send } from "../../support/cloud/cloudstack_asks.ts";
import { useCloudStack } from "../../support/cloud/cloudstack_rig.ts";
import { ManualClock } from "../../support/manual_clock.ts";

describe("the faults of a simulated CloudStack", () => {
  const rig = useCloudStack();
  const stop = (name: string) => rig.change("stopVirtualMachine", { id: rig.idOf(name) });

  const replies: [Fault, number, string, string][] = [
    [{ kind: "error", code: 401 }, 401, "application/json", "unable to verify user credentials"],
    [{ kind: "error", code: 429 }, 429, "application/json", "please retry after [1000] ms."],
    [{ kind: "error", code: 503 }, 503, "application/json", "Can not accept new jobs"],
    [{ kind: "error", code: 530 }, 530, "application/json", "Internal error"],
    [{ kind: "error", code: 531 }, 531, "application/json", "does not have permission"],
    [{ kind: "error", code: 533, text: "full" }, 533, "application/json", '"errortext":"full"'],
    [{ kind: "error", code: 534 }, 534, "application/json", "code 534"],
    [{ kind: "html", status: 502 }, 502, "text/html", "502 Bad Gateway"],
    [{ kind: "html", status: 200 }, 200, "text/html", "200"],
    [{ kind: "json", body: [] }, 200, "application/json", "[]"],
    [{ kind: "json", status: 404, body: { no: 1 } }, 404, "application/json", '{"no":1}'],
    [{ kind: "redirect", location: "https://elsewhere.example/" }, 302, "", ""],
    [{ kind: "emptyList" }, 200, "application/json", '{"listzonesresponse":{}}'],
    [
      { kind: "missingPage", page: 1 },
      200,
      "application/json",
      '{"listzonesresponse":{"count":2}}',
    ],
  ];
  test.each(replies)("fault %j: %p", async (fault, status, type, words) => {
    const off = rig.simulator.faults.set(fault, { command: "listZones" });
    const response = await send(rig.simulator, "listZones");
    expect(response.status).toBe(status);
    expect(response.headers.get("content-type") ?? "").toStartWith(type);
    expect(await response.text()).toContain(words);
    expect((await rig.ask("listProjects")).status).toBe(200);
    off();
    expect((await rig.ask("listZones")).body["count"]).toBe(2);
  });

  test.each<[Fault, boolean]>([
    [{ kind: "reset" }, false],
    [{ kind: "resetAfter" }, true],
    [{ kind: "halfBody" }, true],
  ])("fault %j breaks off; the command is carried out: %p", async (fault, isDone) => {
    rig.simulator.faults.set(fault, { times: 1 });
    const id = rig.idOf("worker-1");
    const options = { method: "POST" } as const;
    const answer = send(rig.simulator, "stopVirtualMachine", { id }, options);
    await expect(answer.then((response) => response.text())).rejects.toThrow();
    expect(rig.simulator.jobs.all.size).toBe(isDone ? 1 : 0);
  });

  test.each<[Fault, number]>([
    [{ kind: "hang" }, 0],
    [{ kind: "hangAfter" }, 1],
  ])("fault %j never answers, and does %p job", async (fault, jobs) => {
    rig.simulator.faults.set(fault);
    const fields = { id: rig.idOf("worker-1") };
    const answer = send(rig.simulator, "stopVirtualMachine", fields, { method: "POST" });
    const ended = answer.then(
      () => "answered",
      () => "broken off",
    );
    while (rig.simulator.hanging.size === 0) await Bun.sleep(1);
    expect(rig.simulator.jobs.all.size).toBe(jobs);
    await rig.simulator.stop();
    expect(await ended).toBe("broken off");
  });

  test("fault delay answers late", async () => {
    rig.simulator.faults.set({ kind: "delay", ms: 5_000 });
    const answer = rig.ask("listZones");
    while (rig.clock.pending === 0) await Bun.sleep(1);
    expect(rig.simulator.hanging.size).toBe(1);
    await rig.clock.advance(5_000);
    expect((await answer).status).toBe(200);
  });

  test("refuse() and accept() keep the port", async () => {
    const { url } = rig.simulator;
    await rig.simulator.refuse();
    await expect(rig.ask("listZones")).rejects.toThrow();
    await rig.simulator.accept();
    expect([rig.simulator.url, (await rig.ask("listZones")).status]).toEqual([url, 200]);
  });

  test("are for commands and values, end after some requests, and the last one counts", async () => {
    const { faults } = rig.simulator;
    const statusOf = async (fields = {}): Promise<number> =>
      (await rig.ask("listZones", fields)).status;
    const off = faults.set({ kind: "error", code: 503 }, { command: ["listZones"], value: "v1" });
    faults.set({ kind: "error", code: 530 }, { value: "v1", times: 1 });
    const own = { name: "v1" };
    expect([await statusOf(own), await statusOf(own), await statusOf()]).toEqual([530, 503, 200]);
    off();
    faults.set({ kind: "error", code: 530 });
    expect(await statusOf(own)).toBe(530);
    faults.clear();
    expect(await statusOf(own)).toBe(200);
  });

  test("make pages that are missing or skip an entry", async () => {
    const page = async (number: string): Promise<unknown> => {
      const answer = await rig.ask("listZones", { page: number, pagesize: "1" });
      return [answer.body["count"], listNames(answer, "zone")];
    };
    const { faults } = rig.simulator;
    faults.set({ kind: "missingPage", page: 2 }, { times: 1 });
    expect([await page("1"), await page("2"), await page("2")]).toEqual([
      [2, ["paris"]],
      [2, []],
      [2, ["lyon"]],
    ]);
    faults.set({ kind: "shrinkingList" });
    expect([await page("1"), await page("2")]).toEqual([
      [2, ["paris"]],
      [1, []],
    ]);
  });

  test("make a job fail without a change, or at its end, which takes back what was to be seen", async () => {
    const { faults, state } = rig.simulator;
    const id = rig.idOf("worker-1");
    faults.set({ kind: "failedJob", code: 530, text: "no host" }, { times: 1 });
    expect([await stop("worker-1"), state.vm(id).state]).toMatchObject([
      { code: 530, text: "no host" },
      "Running",
    ]);
    const networkid =
      [...state.networks.values()].find(({ name }) => name === "k8s-paris")?.id ?? "";
    const fault = { kind: "failedJob", code: 534, text: "no router", isLate: true } as const;
    faults.set(fault, { times: 1 });
    const { body } = await rig.ask("associateIpAddress", { networkid }, { method: "POST" });
    const ip = state.publicIps.get(String(body["id"]));
    await rig.clock.advance(1);
    expect(ip?.state).toBe("Allocating");
    await rig.clock.advance(rig.simulator.settings.jobMs);
    expect([ip?.state, ip?.accountId]).toEqual(["Free", undefined]);
  });

  test("cut a job off, which has no result and stays half done", async () => {
    const { faults, settings, state } = rig.simulator;
    const id = rig.idOf("worker-1");
    faults.set({ kind: "cutOffJob" }, { times: 1 });
    const { body } = await rig.ask("stopVirtualMachine", { id }, { method: "POST" });
    await rig.clock.advance(settings.jobMs);
    const job = await rig.ask("queryAsyncJobResult", { jobid: String(body["jobid"]) });
    expect(job.body).toMatchObject({ jobstatus: 2, jobresultcode: 530 });
    expect(job.body).not.toHaveProperty("jobresult");
    expect(state.vm(id).state).toBe("Stopping");
  });

  test("make a job endless, which keeps its turn until it is released", async () => {
    const { faults, jobs, state } = rig.simulator;
    const id = rig.idOf("worker-1");
    faults.set({ kind: "endlessJob" }, { command: "stopVirtualMachine", times: 1 });
    await stop("worker-1");
    await rig.ask("startVirtualMachine", { id }, { method: "POST" });
    await rig.clock.advance(1_000_000);
    const statuses = (): number[] => [...jobs.all.values()].map(({ status }) => status);
    expect([state.vm(id).state, statuses()]).toEqual(["Stopping", [0, 0]]);
    jobs.releaseAll();
    await rig.clock.advance(1_000);
    expect([state.vm(id).state, statuses()]).toEqual(["Running", [1, 1]]);
    expect(() => jobs.release([...jobs.all.keys()][0] ?? "")).toThrow(RangeError);
  });
});

describe("a simulated CloudStack", () => {
  const rig = useCloudStack();

  test("has a user and nothing else without a world, and shares none", async () => {
    const empty = await startCloudStackSimulator({ clock: new ManualClock() });
    const answer = await ask(empty, "listVirtualMachines", { listall: "true" });
    expect([answer.status, answer.body]).toEqual([200, {}]);
    await empty.stop();
    rig.simulator.state.setState(rig.idOf("worker-1"), "Stopped");
    expect(createDemoWorld().world).toEqual(rig.story.world);
  });

  test("answers another path and another method with a page", async () => {
    const root = await fetch(rig.simulator.url.replace("/client/api", "/"));
    expect([root.status, root.headers.get("content-type")]).toEqual([404, "text/html"]);
    expect((await fetch(rig.simulator.url, { method: "PUT" })).status).toBe(405);
  });

  test("writes requests down, without keys and signatures", async () => {
    await rig.ask("listZones", { name: "paris" });
    await rig.ask("nonsense");
    const { requests, apiKey } = rig.simulator;
    expect([...requests.byCommand]).toEqual([
      ["listZones", 1],
      ["nonsense", 1],
    ]);
    const [first] = requests.entries;
    expect(first?.parameters.get("name")).toBe("paris");
    expect([...(first?.parameters.values() ?? [])]).not.toContain(apiKey);
    expect(first?.parameters.has("signature")).toBe(false);
  });
});
