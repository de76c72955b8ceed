/**
 * Keys, authority and settings of Apache CloudStack that change under a controller at work, while Nodes are created all
 * the time. The API server and the program are real; CloudStack is simulated, behind TLS.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { listRights, needAll } from "../../../lib/app/rights.ts";
import { systemClock } from "../../../lib/core/clock.ts";
import {
  createDemoWorld,
  type CloudStackSimulator,
  startCloudStackSimulator,
} from "../../../lib/simulator/cloudstack/mod.ts";
import { startTlsFront, type TlsFront } from "../../support/net/tls_front.ts";
import { readTls } from "../../support/net/tls_fixtures.ts";
import { skipsCluster } from "../../support/process/cluster.ts";
import {
  ClusterRig,
  type Controller,
  RIGHTS,
  waitUntil,
} from "../../support/process/cluster_rig.ts";
import { PROGRAM } from "../../support/process/landfall_process.ts";
import { Load } from "../../support/process/load.ts";
import { SecretMount } from "../../support/process/secret_mount.ts";

/** That of the manifests for this cloud. */
const LEASE = { namespace: "kube-system", name: "cloud-controller-manager" } as const;
const REGION = "topology.kubernetes.io/region";
const KEYS_AFTER = { apiKey: "canary-api-key-2", secretKey: "canary-secret-key-2" };
const WRONG_VALUE = "canary-value";

describe.skipIf(skipsCluster())(
  `rotation under load with CloudStack, the controller as ${PROGRAM.name}`,
  () => {
    const demo = createDemoWorld();
    let rig: ClusterRig;
    let cloud: CloudStackSimulator;
    let front: TlsFront;
    let mount: SecretMount;
    let controller: Controller | undefined;
    let load: Load | undefined;
    const secrets = new Set<string>([...Object.values(KEYS_AFTER), WRONG_VALUE]);

    beforeAll(async () => {
      rig = await ClusterRig.start();
      await rig.allow([...RIGHTS, ...listRights(needAll(LEASE))]);
      cloud = await startCloudStackSimulator({ clock: systemClock, world: demo.world });
      front = await startTlsFront(Number(new URL(cloud.url).port));
      const { apiKey, secretKey } = cloud;
      secrets.add(apiKey).add(secretKey);
      mount = new SecretMount({ "ca.crt": readTls("ca.crt"), apiKey, secretKey });
      configure("region = first");
    }, 120_000);
    afterAll(async () => {
      await load?.stop();
      await controller?.landfall.stop();
      await front.stop();
      await cloud.stop();
      await rig.stop();
      mount[Symbol.dispose]();
    });

    const configure = (...lines: readonly string[]): void => {
      const base = [
        "[Global]",
        `api-url = ${front.url}${new URL(cloud.url).pathname}`,
        `api-key-file = ${mount.path("apiKey")}`,
        `secret-key-file = ${mount.path("secretKey")}`,
        `ca-file = ${mount.path("ca.crt")}`,
        "refresh-interval = 1s",
      ];
      mount.update({ "cloud-config": [...base, ...lines, ""].join("\n") });
    };
    let vms = 0;
    const addVm = (name: string): void => {
      const { accountIds, offeringIds, zoneIds, machines } = demo;
      const { nics } = cloud.state.vm(machines.get("worker-1")?.vmId ?? "");
      vms += 1;
      const moved = nics.map((nic) => ({ ...nic, ipAddress: `10.13.0.${vms}` }));
      const place = { accountId: accountIds.acme, zoneId: zoneIds.paris, nics: moved };
      cloud.state.addVm({ name, offeringId: offeringIds.small, ...place });
    };
    /** A Node that registers now and is served shows that everything works. */
    const expectService = async (name: string): Promise<void> => {
      addVm(name);
      await rig.register(name);
      await rig.waitForNode(name);
    };

    test("keys, authority and settings: not one reconcile or refresh fails", async () => {
      controller = await rig.startController(PROGRAM, {
        args: [
          "--cloud-provider=external-cloudstack",
          `--cloud-config=${mount.path("cloud-config")}`,
          "--controllers=*,-service",
          `--leader-elect-resource-name=${LEASE.name}`,
        ],
      });
      load = new Load(rig, addVm);
      await expectService("at-first");

      // No request is answered in between: the server has only the new keys when it sees the next one.
      mount.update({ apiKey: KEYS_AFTER.apiKey, secretKey: KEYS_AFTER.secretKey });
      Object.assign(cloud.user, KEYS_AFTER);
      await expectService("after-keys");

      mount.update({ "ca.crt": readTls("other_ca.crt") });
      front.show("other_server");
      await expectService("after-authority");

      configure("region = second");
      await rig.waitForNode("at-first", ({ metadata }) => metadata.labels?.[REGION] === "second");
      configure("region = third", `refresh-interval = ${WRONG_VALUE}`, "canry = 1");
      const refused = await waitUntil("the Event about the refused file", async () =>
        (await rig.listOwnEvents()).find(({ reason }) => reason === "ConfigRefused"),
      );
      expect(refused.type).toBe("Warning");
      expect(refused.message).toContain(`${mount.path("cloud-config")}:8:`);
      expect(refused.message).toContain(`${mount.path("cloud-config")}:9:`);
      await expectService("after-refusal");
      const { metadata } = await rig.readNode("after-refusal");
      expect(metadata.labels?.[REGION]).toBe("second");
      await load.expectNoFailure(controller);

      const events = JSON.stringify(await rig.listOwnEvents());
      const ended = await controller.landfall.stop();
      for (const secret of secrets) {
        expect(events).not.toContain(secret);
        expect(ended.stderr).not.toContain(secret);
      }
    }, 180_000);
  },
);
