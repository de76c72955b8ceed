import { expect, test } from "bun:test";
import { CloudStack } from "../../../lib/simulator/cloudstack/cloudstack.ts";
import { ManualClock } from "../../support/manual_clock.ts";

const { signal } = new AbortController();
const toRequest = (query: string): Request =>
  new Request(`http://memory/client/api?response=json&${query}`);

test("CloudStack.answer() needs no sockets", async () => {
  const cloud = new CloudStack({ clock: new ManualClock(), signal });
  const outcome = await cloud.answer(toRequest("command=listZones"));
  expect(outcome.kind === "reply" && outcome.response.status).toBe(401);
  cloud.faults.set({ kind: "hang" });
  expect((await cloud.answer(toRequest("command=listZones"))).kind).toBe("hang");
  expect(cloud.requests.count("listZones")).toBe(2);
});

test("CloudStack has a user who may ask, with the world's own objects", () => {
  const cloud = new CloudStack({ clock: new ManualClock(), signal });
  expect(cloud.state.accounts.get(cloud.user.accountId)).toMatchObject({ name: "acme" });
  expect(cloud.user.role.commands).toEqual(["*"]);
});

test("a delay ends with the simulator", async () => {
  const stopped = new AbortController();
  const cloud = new CloudStack({ clock: new ManualClock(), signal: stopped.signal });
  cloud.faults.set({ kind: "delay", ms: 5_000 });
  const answer = cloud.answer(toRequest("command=listZones"));
  stopped.abort(new Error("stopped"));
  await expect(answer).rejects.toThrow("stopped");
});
