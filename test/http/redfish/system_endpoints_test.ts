import { expect, test } from "bun:test";
import { type Ask, createRig, credentialsOf } from "../../support/redfish/client.ts";
import { makeSystem } from "../../support/redfish/memory_backend.ts";

const A = credentialsOf("a");
const SYSTEM = "/redfish/v1/Systems/a";
const RESET = `${SYSTEM}/Actions/ComputerSystem.Reset`;

function patch(boot: Readonly<Record<string, string>>): Ask {
  const named = Object.entries(boot).map(([name, value]) => [`BootSourceOverride${name}`, value]);
  return { as: A, method: "PATCH", body: { Boot: Object.fromEntries(named) } };
}
function post(body: unknown): Ask {
  return { as: A, method: "POST", body };
}

test.each([
  ["On", "a on"],
  ["ForceOff", "a off"],
  ["GracefulShutdown", "a gracefulOff"],
  ["GracefulRestart", "a gracefulRestart"],
  ["ForceRestart", "a restart"],
  ["PowerCycle", "a cycle"],
  ["Pause", "a pause"],
  ["Resume", "a resume"],
])("listSystemEndpoints() passes on the reset %s", async (ResetType, asked) => {
  const { backend, ask } = createRig();
  expect((await ask(RESET, post({ ResetType }))).status).toBe(204);
  expect(backend.asked).toEqual([asked]);
});

test("listSystemEndpoints() lists all resets that it passes on, and all boot devices", async () => {
  const { ask } = createRig();
  const { json } = await ask(SYSTEM, { as: A });
  expect(json).toMatchObject({
    PowerState: "Off",
    Boot: {
      BootSourceOverrideEnabled: "Disabled",
      BootSourceOverrideTarget: "None",
      "BootSourceOverrideTarget@Redfish.AllowableValues": ["None", "Pxe", "Hdd"],
      BootSourceOverrideMode: "UEFI",
    },
    MemorySummary: { TotalSystemMemoryGiB: 8 },
    ProcessorSummary: { Count: 4 },
    Actions: { "#ComputerSystem.Reset": { target: RESET } },
  });
});

test("listSystemEndpoints() keeps what a change of the boot device leaves out", async () => {
  const { backend, ask } = createRig();
  await ask(SYSTEM, patch({ Target: "Pxe", Enabled: "Once", Mode: "UEFI" }));
  await ask(SYSTEM, patch({ Target: "Hdd" }));
  expect(backend.asked).toEqual([
    'a {"device":"network","duration":"once","firmware":"uefi"}',
    'a {"device":"disk"}',
  ]);
  const { json } = await ask(SYSTEM, { as: A });
  expect(json["Boot"]).toMatchObject({
    BootSourceOverrideEnabled: "Once",
    BootSourceOverrideTarget: "Hdd",
  });
});

test("listSystemEndpoints() shows a machine whose state is not known, and one that is paused", async () => {
  const unknown = makeSystem("a", { power: "unknown", firmware: "unknown", interfaces: [] });
  const { ask } = createRig([unknown, makeSystem("b", { power: "paused" })]);
  const { json } = await ask(SYSTEM, { as: A });
  expect([json["PowerState"], json["Boot"]]).toMatchObject([
    null,
    { BootSourceOverrideMode: null },
  ]);
  const { json: other } = await ask("/redfish/v1/Systems/b", { as: credentialsOf("b") });
  expect(other["PowerState"]).toBe("Paused");
});

test("listSystemEndpoints() changes a machine only if it is as the client saw it", async () => {
  const { backend, ask } = createRig();
  const seen = await ask(SYSTEM, { as: A });
  const etag = seen.headers.get("etag") ?? "";
  expect(seen.json["@odata.etag"]).toBe(etag);
  expect((await ask(SYSTEM, { as: A, headers: { "if-none-match": etag } })).status).toBe(304);
  const once = patch({ Target: "Pxe", Enabled: "Once" });
  const change = (tag: string) => ask(SYSTEM, { ...once, headers: { "if-match": tag } });
  expect((await change(`"other", W/${etag}`)).status).toBe(204);
  expect((await change(etag)).status).toBe(412);
  expect((await change("*")).status).toBe(204);
  expect(backend.asked).toHaveLength(2);
});

test("listSystemEndpoints() offers graceful resets only while a guest can be asked", async () => {
  const { ask } = createRig([makeSystem("a", { power: "running", isGraceful: false })]);
  const { json } = await ask(SYSTEM, { as: A });
  const values = JSON.stringify(json["Actions"]);
  expect(values).toContain("ForceOff");
  expect(values).not.toContain("Graceful");
});

test("listManagerEndpoints() answers a reset, which ends the sessions of the machine", async () => {
  const { ask } = createRig();
  const manager = "/redfish/v1/Managers/a";
  const body = { UserName: A.username, Password: A.password };
  const session = await ask("/redfish/v1/SessionService/Sessions", { method: "POST", body });
  const headers = { "x-auth-token": session.headers.get("x-auth-token") ?? "" };
  const { json } = await ask(manager, { headers });
  expect(json).toMatchObject({
    FirmwareVersion: "1.2.3",
    Actions: { "#Manager.Reset": { target: `${manager}/Actions/Manager.Reset` } },
  });
  const reset = { method: "POST", headers, body: { ResetType: "GracefulRestart" } };
  expect((await ask(`${manager}/Actions/Manager.Reset`, reset)).status).toBe(204);
  expect((await ask(manager, { headers })).status).toBe(401);
  const nmi = await ask(`${manager}/Actions/Manager.Reset`, post({ ResetType: "Nmi" }));
  expect(nmi.status).toBe(400);
});
