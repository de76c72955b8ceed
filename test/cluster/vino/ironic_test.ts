/**
 * A real Ironic manages virtual machines of Xen Orchestra by Redfish. Xen Orchestra is simulated, on real sockets.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { VinoManagement } from "../../../lib/controllers/vino/redfish/management.ts";
import { systemClock } from "../../../lib/core/clock.ts";
import { silentLogger } from "../../../lib/core/log.ts";
import {
  createMachineSite,
  startXenOrchestraSimulator,
} from "../../../lib/simulator/xenorchestra/mod.ts";
import { toDeps } from "../../providers/xenorchestra/fake_server.ts";
import { Rig } from "../../providers/xenorchestra/machines/rig.ts";
import { type Ironic, startIronic } from "../../support/redfish/ironic/ironic.ts";
import { IRONIC_ROOT_MS, skipsIronic } from "../../support/redfish/ironic/system_root.ts";
import { type ServedRedfish, serveRedfish } from "../../support/redfish/served.ts";
import { SecretsDouble } from "../../support/vino/management_rig.ts";

const LOGIN = { username: "edge-worker-0", password: "a password of the host" };
const NODE = "edge-worker-0";
const SECRET = `${NODE}-bmc-credentials`;
const START_MS = 120_000;

describe.skipIf(skipsIronic())("Ironic", () => {
  let rig: Rig;
  let ironic: Ironic;
  let served: ServedRedfish;
  let vmId = "";
  const secrets = new SecretsDouble();
  const ended = new AbortController();

  beforeAll(async () => {
    const site = createMachineSite();
    const deps = toDeps();
    const world = { clock: deps.clock, world: site.world };
    rig = new Rig(site, await startXenOrchestraSimulator(world), deps);
    rig.machines.follow();
    await rig.refresh();
    const spec = rig.spec({ isStarted: false });
    await rig.make(spec);
    const vm = rig.vm(spec);
    vmId = vm.id;
    secrets.set(SECRET, LOGIN);
    const machine = {
      id: vmId,
      name: String(vm["name_label"]),
      namespace: "metal",
      overrideName: `${vmId}-boot-override`,
      vino: { name: "edge", uid: "1b4e28ba-2fa1-41d2-883f-0016d3cca427" },
    };
    const management = new VinoManagement({
      listMachines: () => [{ ...machine, secretName: SECRET }],
      power: rig.machines.power,
      client: secrets,
      fence: rig.fence,
      clock: systemClock,
      log: silentLogger,
      warn: () => {},
    });
    void management.run(ended.signal);
    served = await serveRedfish(management);
    ironic = await startIronic();
  }, IRONIC_ROOT_MS + START_MS);

  afterAll(async () => {
    ended.abort();
    await ironic?.[Symbol.asyncDispose]();
    await served?.[Symbol.asyncDispose]();
    await rig?.stop();
  });

  const readOrder = (): unknown => Object(rig.simulator.state.read("vms", vmId)?.["boot"]).order;
  const setPower = (target: string): Promise<unknown> =>
    ironic.ask("PUT", `/v1/nodes/${NODE}/states/power`, { target });
  const settle = async (power: string): Promise<void> => {
    await ironic.until(NODE, { power_state: power, target_power_state: null });
  };

  test("Ironic registers a machine by its address, and manages it", async () => {
    await ironic.ask("POST", "/v1/nodes", {
      name: NODE,
      driver: "redfish",
      driver_info: {
        redfish_address: served.url,
        redfish_system_id: `/redfish/v1/Systems/${vmId}`,
        redfish_username: LOGIN.username,
        redfish_password: LOGIN.password,
        redfish_verify_ca: ironic.caFile,
      },
    });
    const validity = Object(await ironic.ask("GET", `/v1/nodes/${NODE}/validate`));
    expect(validity).toMatchObject({ power: { result: true }, management: { result: true } });
    await ironic.ask("PUT", `/v1/nodes/${NODE}/states/provision`, { target: "manage" });
    await ironic.until(NODE, { provision_state: "manageable", power_state: "power off" });
  });

  test("Ironic inspects the machine: CPUs, memory, and a port for each network interface", async () => {
    await ironic.ask("PUT", `/v1/nodes/${NODE}/states/provision`, { target: "inspect" });
    await ironic.until(NODE, { provision_state: "inspecting" }).catch(() => undefined);
    const { properties } = await ironic.until(NODE, { provision_state: "manageable" });
    expect(properties).toMatchObject({ cpus: 4, memory_mb: "4096", cpu_arch: "x86_64" });
    const { ports } = Object(await ironic.ask("GET", `/v1/ports?node=${NODE}`));
    expect(ports.map(({ address }: { address: string }) => address).toSorted()).toEqual([
      "02:00:00:00:00:01",
      "02:00:00:00:00:02",
    ]);
  });

  test("Ironic switches the machine on and off", async () => {
    await setPower("power on");
    await settle("power on");
    expect(rig.simulator.state.read("vms", vmId)?.["power_state"]).toBe("Running");
    await setPower("power off");
    await settle("power off");
    expect(rig.simulator.state.read("vms", vmId)?.["power_state"]).toBe("Halted");
  });

  test("Ironic boots the machine from the network once, and then from its disk", async () => {
    const before = readOrder();
    await setPower("power on");
    await settle("power on");
    const { journal } = rig.simulator.cloud.hypervisor;
    const calls = journal.length;
    const device = { boot_device: "pxe", persistent: false };
    const path = `/v1/nodes/${NODE}/management/boot_device`;
    await ironic.ask("PUT", path, device);
    expect(await ironic.ask("GET", path)).toEqual(device);
    expect(readOrder()).toBe(`n${String(before)}`);
    expect(secrets.override(vmId)).toBeDefined();
    await setPower("rebooting");
    await settle("power on");
    while (secrets.override(vmId) !== undefined) await Bun.sleep(200);
    expect(readOrder()).toBe(before);
    expect(journal.slice(calls).map(({ method }) => method)).toEqual([
      "VM.set_HVM_boot_params",
      "VM.hard_shutdown",
      "VM.start",
      "VM.set_HVM_boot_params",
    ]);
    expect(await ironic.ask("GET", path)).toMatchObject({ persistent: null });
  }, 60_000);

  test("Ironic sets the boot device for good, and changes it", async () => {
    const path = `/v1/nodes/${NODE}/management/boot_device`;
    await ironic.ask("PUT", path, { boot_device: "pxe", persistent: true });
    expect(await ironic.ask("GET", path)).toEqual({ boot_device: "pxe", persistent: true });
    await setPower("rebooting");
    await settle("power on");
    expect(String(readOrder()).startsWith("n")).toBe(true);
    await ironic.ask("PUT", path, { boot_device: "disk", persistent: true });
    expect(String(readOrder()).startsWith("c")).toBe(true);
  }, 60_000);

  test("Ironic passes on why a machine without tools cannot be shut down gracefully", async () => {
    rig.simulator.state.setVm(vmId, { xenTools: false, pvDriversDetected: false });
    await setPower("soft power off");
    const { last_error: error } = await ironic.until(NODE, { target_power_state: null });
    expect(error).toContain("has no guest tools");
  });

  test("Ironic is refused with another password", async () => {
    const patch = [{ op: "replace", path: "/driver_info/redfish_password", value: "wrong" }];
    await ironic.ask("PATCH", `/v1/nodes/${NODE}`, patch);
    const path = `/v1/nodes/${NODE}/management/boot_device`;
    await expect(ironic.ask("GET", path)).rejects.toThrow("No machine has this user and password");
  });
});
