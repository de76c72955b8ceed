import { describe, expect, test } from "bun:test";
import { startCloudStackSimulator, type Fault } from "../../../lib/simulator/cloudstack/mod.ts";
import { ask, listNames, send } from "../../support/cloud/cloudstack_asks.ts";
import { useCloudStack } from "../../support/cloud/cloudstack_rig.ts";
import { ManualClock } from "../../support/manual_clock.ts";

describe("startCloudStackSimulator()", () => {
  const rig = useCloudStack();

  test("answers signed requests by GET and by POST", async () => {
    for (const method of ["GET", "POST"] as const) {
      const answer = await rig.ask("listZones", {}, { method });
      expect([answer.status, answer.key]).toEqual([200, "listzonesresponse"]);
      expect(listNames(answer, "zone")).toEqual(["paris", "lyon"]);
    }
  });

  test("has a user and nothing else without a world", async () => {
    const clock = new ManualClock();
    const simulator = await startCloudStackSimulator({ clock });
    const answer = await ask(simulator, "listVirtualMachines", { listall: "true" });
    expect([answer.status, answer.body]).toEqual([200, {}]);
    await simulator.stop();
  });

  test("shares no record with the world it was made of", () => {
    const id = rig.idOf("worker-1");
    rig.simulator.state.setState(id, "Stopped");
    expect(rig.story.world.vms?.find((vm) => vm.id === id)?.state).toBe("Running");
  });

  test("answers another path with a page, and another method, too", async () => {
    const root = await fetch(rig.simulator.url.replace("/client/api", "/"));
    expect([root.status, root.headers.get("content-type")]).toEqual([404, "text/html"]);
    expect((await fetch(rig.simulator.url, { method: "PUT" })).status).toBe(405);
  });

  test("writes requests down", async () => {
    await rig.ask("listZones", { name: "paris" });
    await rig.ask("nonsense");
    const { requests } = rig.simulator;
    expect([...requests.byCommand]).toEqual([
      ["listZones", 1],
      ["nonsense", 1],
    ]);
    expect(requests.entries[0]?.parameters.get("name")).toBe("paris");
  });

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
});
