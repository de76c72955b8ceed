import { expect, test } from "bun:test";
import { RefusedPowerError } from "../../../../lib/cloud/capabilities/machine_power.ts";
import { createRedfish } from "../../../../lib/controllers/vino/redfish/redfish.ts";
import type { RedfishSettings } from "../../../../lib/controllers/vino/redfish/flags.ts";
import type { Vino } from "../../../../lib/controllers/vino/resource/vino.ts";
import { ALONE, Fence } from "../../../../lib/core/fence.ts";
import { silentLogger } from "../../../../lib/core/log.ts";
import { MachinePowerDouble, makeMachine } from "../../../support/cloud/machine_power_double.ts";
import { ManualClock } from "../../../support/manual_clock.ts";
import { SecretsDouble } from "../../../support/vino/management_rig.ts";
import { OWNER, toWanted } from "../../../support/vino/wanted_hosts.ts";

const { signal } = new AbortController();
const LOGIN = { username: "admin", password: "p" };
const SETTINGS: RedfishSettings = {
  address: "0.0.0.0:8443",
  url: new URL("https://redfish.metal.svc:8443"),
};

function create(spec: Vino["spec"] = {}, settings = SETTINGS) {
  const { namespace, name, uid } = OWNER;
  const wanted = toWanted(0);
  const machine = { name: wanted.machineName, role: "worker", index: 0, machineId: "vm-0" };
  const status = { machines: [{ ...machine, state: "Ready" as const }] };
  const vino: Vino = { metadata: { namespace, name, uid }, spec, status };
  const vinoes = new Map([[`${namespace}/${name}`, vino]]);
  const secrets = new SecretsDouble();
  const power = new MachinePowerDouble([makeMachine("vm-0", { name: wanted.machineName })]);
  const events: string[] = [];
  const clock = new ManualClock();
  const redfish = createRedfish({
    settings,
    vinoes,
    power,
    client: secrets,
    fence: new Fence(ALONE),
    clock,
    log: silentLogger,
    events: { record: (_object, { reason, message }) => void events.push(`${reason}: ${message}`) },
  });
  const addBmcs = (hosts = [wanted]) => redfish.addBmcs({ owner: OWNER, hosts }, signal);
  return { redfish, secrets, power, addBmcs, events, clock };
}

test("createRedfish() gives each host its management controller", async () => {
  const { addBmcs } = create({ bmcCredentials: LOGIN });
  const hosts = await addBmcs([toWanted(0), toWanted(1)]);
  expect(hosts.map(({ bmc }) => bmc)).toEqual(
    ["vm-0", "vm-1"].map((id) => ({
      address: `redfish+https://redfish.metal.svc:8443/redfish/v1/Systems/${id}`,
      ...LOGIN,
      skipsCertificateCheck: true,
    })),
  );
});

test("createRedfish() lets metal3 check a certificate that is in files", async () => {
  const files = { certFile: "/tls/tls.crt", keyFile: "/tls/tls.key" };
  const { redfish, addBmcs } = create({ bmcCredentials: LOGIN }, { ...SETTINGS, ...files });
  expect(await addBmcs()).toMatchObject([{ bmc: { skipsCertificateCheck: false } }]);
  expect(redfish.listener).toMatchObject({ ...files, names: ["redfish.metal.svc"] });
});

test("createRedfish() gives a host none, and says so, if there are no credentials", async () => {
  const { addBmcs } = create({ bmcCredentials: { secretRef: { name: "missing" } } });
  const [host] = await addBmcs();
  expect(host?.bmc).toBeUndefined();
  expect(host?.bmcProblem).toBe('bmcCredentials: there is no Secret "missing"');
});

test("createRedfish() opens a machine to those who know the Secret of its host", async () => {
  const { redfish, secrets, power } = create({ bmcCredentials: LOGIN });
  const { management, address, flags } = redfish.listener;
  expect([address, flags.address]).toEqual(["0.0.0.0:8443", "--vino-redfish-address"]);
  expect(await management.findSystems(LOGIN, signal)).toEqual({ kind: "done", value: [] });
  secrets.set("edge-worker-0-bmc-credentials", LOGIN);
  const other = create({ bmcCredentials: LOGIN });
  other.secrets.set("edge-worker-0-bmc-credentials", LOGIN);
  const { management: later } = other.redfish.listener;
  expect(await later.findSystems(LOGIN, signal)).toEqual({ kind: "done", value: ["vm-0"] });
  expect(await management.reset("vm-0", "on", signal)).toMatchObject({ kind: "done" });
  expect(power.starts).toEqual(["vm-0 disk"]);
});

test("createRedfish() tells the Vino about a machine that would start from the wrong device", async () => {
  const { redfish, secrets, power, clock, events } = create();
  secrets.set("edge-worker-0-bmc-credentials", LOGIN);
  const { management } = redfish.listener;
  const set = management.setBoot("vm-0", { device: "network", duration: "once" }, signal);
  await clock.advance(5_000);
  expect(await set).toMatchObject({ kind: "done" });
  power.onCall = (call) => {
    if (call.startsWith("order")) throw new RefusedPowerError("denied", "no right");
  };
  power.start("vm-0");
  const ended = new AbortController();
  const running = redfish.run(ended.signal);
  await clock.advance(60 * 60_000);
  ended.abort();
  await running;
  expect(events).toHaveLength(1);
  expect(events[0]).toStartWith("BootOverrideStuck: Machine ");
});

test("createRedfish() runs until its signal aborts", async () => {
  const { redfish } = create();
  const ended = new AbortController();
  const running = redfish.run(ended.signal);
  ended.abort();
  await running;
});
