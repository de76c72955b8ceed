import { expect, test } from "bun:test";
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
  const redfish = createRedfish({
    settings,
    vinoes,
    power,
    client: secrets,
    fence: new Fence(ALONE),
    clock: new ManualClock(),
    log: silentLogger,
  });
  const addBmcs = (hosts = [wanted]) => redfish.addBmcs({ owner: OWNER, hosts }, signal);
  return { redfish, secrets, power, addBmcs };
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
  expect(host?.labels.notices).toEqual([
    "Secret missing of bmcCredentials has no username and password",
  ]);
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

test("createRedfish() runs until its signal aborts", async () => {
  const { redfish } = create();
  const ended = new AbortController();
  const running = redfish.run(ended.signal);
  ended.abort();
  await running;
});
