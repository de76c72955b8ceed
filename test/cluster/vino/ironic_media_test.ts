/**
 * Two hosts of a Vino in a real Ironic that boots them by virtual media: a machine with UEFI and one with BIOS, on a
 * real API server. There is no DHCP and no PXE. Xen Orchestra is simulated.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { BARE_METAL_HOSTS } from "../../../lib/kube/kinds/bare_metal_host.ts";
import { SECRETS } from "../../../lib/kube/kinds/secret.ts";
import { IRONIC, lacks, METAL3_CRDS } from "../../judges/install.ts";
import { tlsPath } from "../../support/net/tls_fixtures.ts";
import { until } from "../../support/nodes/rig.ts";
import { skipsCluster } from "../../support/process/cluster.ts";
import { PROGRAM } from "../../support/process/landfall_process.ts";
import { RedfishClusterRig } from "../../support/redfish/cluster_rig.ts";
import { FIRMWARES, toHost, toSpec, withUefi } from "../../support/redfish/firmwares.ts";
import { type Ironic, startIronic } from "../../support/redfish/ironic/ironic.ts";
import { Operator } from "../../support/redfish/ironic/operator.ts";

const WAIT_MS = 60_000;
const START_MS = 180_000;
/** More than five minutes were seen on a machine that had much else to do. */
const LIFE_MS = 600_000;
const isSkipped = skipsCluster() || lacks(METAL3_CRDS) || lacks(IRONIC);

describe.skipIf(isSkipped)("a real Ironic with virtual media", () => {
  let rig: RedfishClusterRig;
  let ironic: Ironic;
  const operators: Operator[] = [];

  beforeAll(async () => {
    rig = await RedfishClusterRig.start(PROGRAM, toSpec(), withUefi);
    ironic = await startIronic((mac) => rig.countStarts(mac));
    await rig.startProcess([
      "--vino-redfish-iso-storage=ISOs",
      `--vino-redfish-iso-sources=${ironic.filesUrl}/`,
    ]);
    for (const firmware of FIRMWARES) {
      const readHost = () => rig.read(BARE_METAL_HOSTS, toHost(firmware));
      const isPublished = async (): Promise<boolean> =>
        Object(Object(await readHost()).spec).bmc !== undefined;
      await until(`${firmware} is published`, isPublished, WAIT_MS);
      const host = {
        readHost: async () => (await readHost()) ?? failed(),
        readSecret: async () =>
          (await rig.read(SECRETS, `${toHost(firmware)}-bmc-credentials`)) ?? failed(),
      };
      operators.push(new Operator(ironic, host, tlsPath("ca.crt")));
    }
  }, START_MS);
  afterAll(async () => {
    await ironic?.[Symbol.asyncDispose]();
    await rig?.[Symbol.asyncDispose]();
  });

  test("gets hosts whose driver boots by virtual media", async () => {
    for (const firmware of FIRMWARES) {
      expect(await rig.read(BARE_METAL_HOSTS, toHost(firmware))).toMatchObject({
        spec: { bmc: { address: expect.stringMatching(/^redfish-virtualmedia\+https:/) } },
      });
    }
  });

  test(
    "inspects, cleans and installs both machines from one image, and takes it out again",
    async () => {
      const work = async (operator: Operator): Promise<void> => {
        await operator.register();
        expect(await operator.inspect("agent")).toMatchObject({ inventory: { cpu: { count: 4 } } });
        await operator.provide();
        await operator.deploy();
        await operator.power("power off");
        await operator.undeploy();
        await operator.forget();
      };
      await Promise.all(operators.map(work));
      const { journal } = rig.cloud.cloud.hypervisor;
      expect(journal.filter(({ method }) => method === "VBD.insert").length).toBeGreaterThan(0);
    },
    LIFE_MS,
  );

  test("leaves no image and no boot override", async () => {
    await until("no image is left", () => rig.listImages().length === 0, WAIT_MS);
    for (const firmware of FIRMWARES) {
      const isOver = async (): Promise<boolean> => !(await rig.hasOverride(toHost(firmware)));
      await until("no boot override is left", isOver, WAIT_MS);
    }
  });
});

function failed(): never {
  throw new Error("there is none");
}
