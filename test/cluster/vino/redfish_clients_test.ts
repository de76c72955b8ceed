/**
 * The Redfish service with sushy, which Ironic uses. Machines are in memory.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { IRONIC, lacks } from "../../judges/install.ts";
import { makeSystem, MemoryBackend } from "../../support/redfish/memory_backend.ts";
import { runSushy } from "../../support/redfish/python.ts";
import { serveRedfish } from "../../support/redfish/served.ts";

const ID = "6b8bd0c2-1f7c-4b3b-9d5e-2a5c0d3e4f10";
const OTHER = "0e6f3c52-5a1d-4a55-8a3b-7f0f0c8c9d21";

function createBackend(): MemoryBackend {
  return new MemoryBackend([makeSystem(ID), makeSystem(OTHER)]);
}
function toLogin(url: string, id = ID): { url: string; username: string; password: string } {
  return { url, ...makeSystem(id).credentials };
}

describe.skipIf(lacks(IRONIC))("sushy", () => {
  test.each(["BasicAuth", "SessionAuth", "SessionOrBasicAuth"])(
    "createRedfishService() shows sushy a machine with its parts, by %s",
    async (auth) => {
      await using served = await serveRedfish(createBackend());
      const lines = `
tell([one.identity for one in root.get_system_collection().get_members()])
system = root.get_system("/redfish/v1/Systems/${ID}")
tell([system.name, system.power_state.value, system.memory_summary.size_gib, system.uuid])
tell([system.boot.enabled.value, system.boot.target.value, system.boot.mode.value])
tell(system.ethernet_interfaces.summary)
tell([system.processors.summary.count, system.processors.summary.architecture.value])
tell([one.identity for one in system.managers])
tell(sorted(one.value for one in system.get_allowed_reset_system_values()))
try: root.get_system("/redfish/v1/Systems/${OTHER}")
except sushy.exceptions.AccessError as error: tell(error.status_code)
login.close()`;
      const told = await runSushy(toLogin(served.url), lines, auth);
      expect(told.slice(0, 7)).toEqual([
        [ID],
        [`vm-${ID}`, "Off", 8, ID],
        ["Disabled", "None", "UEFI"],
        { "52:54:00:00:00:01": "State.ENABLED", "52:54:00:00:00:02": "State.ENABLED" },
        [4, "x86"],
        [ID],
        ["ForceOff", "ForceRestart", "GracefulRestart", "GracefulShutdown"].concat([
          "On",
          "Pause",
          "PowerCycle",
          "Resume",
        ]),
      ]);
      expect(told[7]).toBe(401);
    },
  );

  test("createRedfishService() lets sushy switch a machine, and set what it starts from once", async () => {
    const backend = createBackend();
    await using served = await serveRedfish(backend);
    const lines = `
system = root.get_system("/redfish/v1/Systems/${ID}")
system.set_system_boot_options(sushy.BOOT_SOURCE_TARGET_PXE, enabled=sushy.BOOT_SOURCE_ENABLED_ONCE)
system.refresh()
tell([system.boot.enabled.value, system.boot.target.value])
system.set_system_boot_options(sushy.BOOT_SOURCE_TARGET_HDD)
for reset in (sushy.RESET_ON, sushy.RESET_FORCE_RESTART, sushy.RESET_FORCE_OFF):
    system.reset_system(reset)
    system.refresh()
    tell(system.power_state.value)`;
    expect(await runSushy(toLogin(served.url), lines)).toEqual([
      ["Once", "Pxe"],
      "On",
      "On",
      "Off",
    ]);
    expect(backend.asked).toEqual([
      `${ID} {"device":"network","duration":"once"}`,
      `${ID} {"device":"disk"}`,
      `${ID} on`,
      `${ID} restart`,
      `${ID} off`,
    ]);
  });

  test("createRedfishService() gives sushy the reason of a refusal", async () => {
    const backend = createBackend();
    const message = "The guest has no tools; use ForceOff";
    backend.refusal = { kind: "refused", refusal: "notGraceful", message };
    await using served = await serveRedfish(backend);
    const lines = `
system = root.get_system("/redfish/v1/Systems/${ID}")
try: system.reset_system(sushy.RESET_GRACEFUL_SHUTDOWN)
except sushy.exceptions.HTTPError as error: tell([error.status_code, error.detail])`;
    expect(await runSushy(toLogin(served.url), lines)).toEqual([[409, `${message}.`]]);
  });

  test("createRedfishService() lets sushy sign in again after its session is over", async () => {
    const backend = createBackend();
    await using served = await serveRedfish(backend);
    const lines = `
system = root.get_system("/redfish/v1/Systems/${ID}")
root._conn.delete(login._session_resource_id)
system.reset_system(sushy.RESET_ON)
tell("done")`;
    expect(await runSushy(toLogin(served.url), lines, "SessionAuth")).toEqual(["done"]);
    expect(backend.asked).toEqual([`${ID} on`]);
  });

  test("createRedfishService() refuses sushy with the password of another machine", async () => {
    await using served = await serveRedfish(createBackend());
    const { url, username } = toLogin(served.url);
    const wrong = { url, username, password: makeSystem(OTHER).credentials.password };
    const lines = `
try: root.get_system("/redfish/v1/Systems/${ID}")
except sushy.exceptions.AccessError as error: tell(error.status_code)`;
    expect(await runSushy(wrong, lines)).toEqual([401]);
  });
});
