/**
 * The life of two hosts of a Vino in a real Ironic: a machine with UEFI and one with BIOS, on a real API server, with
 * what metal3's operator asks for. The password that they share changes in between. Xen Orchestra is simulated.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Secret, SECRETS } from "../../../lib/kube/kinds/secret.ts";
import { BARE_METAL_HOSTS } from "../../../lib/kube/kinds/bare_metal_host.ts";
import { IRONIC, lacks, METAL3_CRDS } from "../../judges/install.ts";
import { tlsPath } from "../../support/net/tls_fixtures.ts";
import { until } from "../../support/nodes/rig.ts";
import { skipsCluster } from "../../support/process/cluster.ts";
import { PROGRAM } from "../../support/process/landfall_process.ts";
import { askRedfish } from "../../support/redfish/ask.ts";
import { RedfishClusterRig } from "../../support/redfish/cluster_rig.ts";
import {
  type Firmware,
  FIRMWARES,
  toHost,
  toSpec as toBareSpec,
  withUefi,
} from "../../support/redfish/firmwares.ts";
import { type Ironic, startIronic } from "../../support/redfish/ironic/ironic.ts";
import { Operator } from "../../support/redfish/ironic/operator.ts";
import type { RedfishProcess } from "../../support/redfish/processes.ts";

const USERNAME = "metal3";
const PASSWORDS = ["the first password", "the second password"] as const;
const BOOT_MODES = { bios: "legacy", uefi: "UEFI" } as const;
const MAC = expect.stringMatching(/^([0-9a-f]{2}:){5}[0-9a-f]{2}$/);
const WAIT_MS = 60_000;
const START_MS = 180_000;
/** More than five minutes were seen on a machine that had much else to do. */
const LIFE_MS = 600_000;
const isSkipped = skipsCluster() || lacks(METAL3_CRDS) || lacks(IRONIC);

/** With the password that Secret `bmc-<at>` has. */
const toSpec = (at: number): ReturnType<typeof toBareSpec> => ({
  ...toBareSpec(),
  bmcCredentials: { secretRef: { name: `bmc-${at}` } },
});

describe.skipIf(isSkipped)("a real Ironic", () => {
  let rig: RedfishClusterRig;
  let ironic: Ironic;
  let served: RedfishProcess;
  const operators = new Map<Firmware, Operator>();

  beforeAll(async () => {
    rig = await RedfishClusterRig.start(PROGRAM, toSpec(0), withUefi);
    for (const [at, password] of PASSWORDS.entries()) {
      await rig.createSecret(`bmc-${at}`, { username: USERNAME, password });
    }
    [served, ironic] = await Promise.all([
      rig.startProcess(),
      startIronic((mac) => rig.countStarts(mac)),
    ]);
    for (const firmware of FIRMWARES) {
      await until(`${firmware} is published`, () => findSystem(firmware), WAIT_MS);
      const host = {
        readHost: async () => (await rig.read(BARE_METAL_HOSTS, toHost(firmware))) ?? failed(),
        readSecret: () => readSecret(firmware),
      };
      operators.set(firmware, new Operator(ironic, host, tlsPath("ca.crt")));
    }
  }, START_MS);
  afterAll(async () => {
    await ironic?.[Symbol.asyncDispose]();
    await rig?.[Symbol.asyncDispose]();
  });

  const readSecret = async (firmware: Firmware): Promise<Secret> =>
    (await rig.read(SECRETS, `${toHost(firmware)}-bmc-credentials`)) ?? failed();
  const readVersion = async (firmware: Firmware): Promise<string | undefined> =>
    (await readSecret(firmware)).metadata.resourceVersion;
  /** The path of a machine in Redfish; `undefined` until its host is published. */
  const findSystem = async (firmware: Firmware): Promise<string | undefined> => {
    const { bmc } = Object(Object(await rig.read(BARE_METAL_HOSTS, toHost(firmware))).spec);
    return bmc && new URL(bmc.address.replace("redfish+", "")).pathname;
  };
  /** Lets the operator do something with both hosts at once. */
  const both = async (work: (operator: Operator) => Promise<unknown>): Promise<void> => {
    await Promise.all([...operators.values()].map(work));
  };

  test.each(FIRMWARES)("finds the firmware and the disk of a machine with %s", async (firmware) => {
    expect(await rig.read(BARE_METAL_HOSTS, toHost(firmware))).toMatchObject({
      spec: { bootMode: BOOT_MODES[firmware], rootDeviceHints: { deviceName: "/dev/xvda" } },
    });
  });

  test(
    "registers, inspects and cleans both machines",
    () =>
      both(async (operator) => {
        await operator.register();
        expect(await operator.inspect("redfish")).toMatchObject({
          inventory: {
            cpu: { count: 4, architecture: "x86_64" },
            memory: { physical_mb: 4096 },
            interfaces: [{ mac_address: MAC }, { mac_address: MAC }],
          },
        });
        expect(await operator.inspect("agent")).toMatchObject({ inventory: { cpu: { count: 4 } } });
        await operator.provide();
      }),
    LIFE_MS,
  );

  test(
    "knows one machine after the other by the new password",
    async () => {
      const versions = await Promise.all(FIRMWARES.map(readVersion));
      await rig.changeVino(toSpec(1));
      const now = { username: USERNAME, password: PASSWORDS[1] };
      for (const [at, firmware] of FIRMWARES.entries()) {
        const isNew = async (): Promise<boolean> => (await readVersion(firmware)) !== versions[at];
        await until(`${firmware} has the new password`, isNew, WAIT_MS);
        const system = (await findSystem(firmware)) ?? failed();
        expect((await askRedfish(served, system, now)).status).toBe(200);
      }
      await both(async (operator) => {
        expect(await operator.renewCredentials()).toBe(true);
      });
    },
    LIFE_MS,
  );

  test(
    "sets what a machine boots from, once and for good",
    async () => {
      const operator = operators.get("bios") ?? failed();
      const id = (await findSystem("bios"))?.split("/").at(-1) ?? failed();
      const before = rig.readOrder(id);
      for (const [device, order] of [
        ["disk", "cnd"],
        ["pxe", "ncd"],
      ] as const) {
        for (const persistent of [true, false]) {
          const set = { boot_device: device, persistent };
          expect(await operator.setBootDevice(device, persistent)).toEqual(set);
          const isSet = (): boolean => rig.readOrder(id) === order;
          await until(`the order is ${order}`, isSet, WAIT_MS);
        }
      }
      await operator.power("power on");
      await operator.power("power off");
      const isOver = async (): Promise<boolean> => !(await rig.hasOverride(toHost("bios")));
      await until("the device that was set once is used up", isOver, WAIT_MS);
      expect(rig.readOrder(id)).toBe(before);
    },
    LIFE_MS,
  );

  test(
    "installs both, switches them, and takes the image away again",
    () =>
      both(async (operator) => {
        await operator.deploy();
        for (const target of ["soft power off", "power on", "rebooting", "power off"]) {
          await operator.power(target);
        }
        await operator.undeploy();
        await operator.forget();
      }),
    LIFE_MS,
  );

  test("has seen a new version of a Secret only with a new password", async () => {
    expect([...operators.values()].map((one) => one.credentialsSeen)).toEqual([2, 2]);
  });

  test.each(FIRMWARES)("leaves no boot override of the machine with %s", async (firmware) => {
    const isOver = async (): Promise<boolean> => !(await rig.hasOverride(toHost(firmware)));
    await until("no boot override is left", isOver, WAIT_MS);
  });

  test("is refused with another password, and with that of no machine", async () => {
    const system = (await findSystem("uefi")) ?? failed();
    for (const password of [PASSWORDS[0].toUpperCase(), "no password"]) {
      const answer = await askRedfish(served, system, { username: USERNAME, password });
      expect(answer.status).toBe(401);
    }
  });
});

function failed(): never {
  throw new Error("there is none");
}
