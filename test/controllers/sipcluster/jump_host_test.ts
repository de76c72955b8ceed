/**
 * A jump host of a cluster on a simulated API server: its objects, and a reboot that its user asks for.
 * @module
 */
import { expect, test } from "bun:test";
import { HOST_LABELS, OAM_NETWORK } from "../../../lib/simulator/metal3/hosts.ts";
import { until } from "../../support/nodes/rig.ts";
import { HOSTS, SipStage, TENANT } from "../../support/sipcluster/stage.ts";

const REQUESTS = { namespace: TENANT, name: "jumphost-a-requests" };

test("a jump host keeps its host key over changes, and has hosts of its cluster rebooted", async () => {
  await using stage = await SipStage.start([{ name: "r1", flavors: { worker: 3 } }]);
  const { objects } = stage.kubernetes;
  const labelSelector = { matchLabels: { [HOST_LABELS.flavor]: "worker" } };
  stage.create("a", {
    nodes: { Worker: { labelSelector, count: { active: 1 } } },
    services: {
      jumpHost: [
        {
          image: "registry.example/jump-host:1",
          nodePort: 30_000,
          nodeInterfaceId: OAM_NETWORK,
          nodeSSHPrivateKeys: "node-keys",
        },
      ],
    },
  });
  await stage.untilCondition("a", "Ready", "True ReconciliationSucceeded");
  const readKey = (): unknown =>
    objects.get("secrets", { namespace: TENANT, name: "jumphost-a-host-keys" })?.["data"];
  const readFile = (name: string): string => {
    const map = objects.get("configmaps", { namespace: TENANT, name: "jumphost-a" });
    return String({ [name]: "", ...Object(map?.["data"]) }[name]);
  };
  const key = readKey();
  expect(key).toBeDefined();

  stage.change("a", { nodes: { Worker: { count: { active: 2 } } } });
  await until("the new host is on the list", () => readFile("hosts").split("\n").length === 5);
  expect(readKey()).toEqual(key);

  const [ours = ""] = stage.listHosts("a").map((text) => text.split(" ")[0] ?? "");
  const theirs = objects
    .list("baremetalhosts", HOSTS)
    .map(({ metadata }) => metadata.name)
    .find((name) => !stage.listHosts("a").some((text) => text.startsWith(`${name} `)));
  const ask = (id: string, host: string): void => {
    const request = JSON.stringify({ host: `${HOSTS}/${host}`, time: Date.now() / 1_000 });
    objects.patch("configmaps", REQUESTS, { data: { [`request.${id}`]: request } });
  };
  ask("00000000-0000-4000-8000-000000000001", ours);
  ask("00000000-0000-4000-8000-000000000002", theirs ?? "");
  await until("both have answers", () => {
    const data = Object.keys(Object(objects.get("configmaps", REQUESTS)?.["data"]));
    return data.length === 2 && data.every((name) => name.startsWith("answer."));
  });
  const rebooted = objects
    .list("baremetalhosts", HOSTS)
    .filter(({ metadata }) => Object.hasOwn(Object(metadata["annotations"]), "reboot.metal3.io"));
  expect(rebooted.map(({ metadata }) => metadata.name)).toEqual([ours]);
  await until("Events say so", () =>
    stage.listEvents("a").some((one) => one.startsWith("RebootRefused")),
  );
  expect(
    stage
      .listEvents("a")
      .filter((one) => one.startsWith("Reboot"))
      .toSorted(),
  ).toEqual([
    `RebootRefused BareMetalHost ${HOSTS}/${theirs}: Landfall refused: the host does not belong to this cluster`,
    `RebootRequested BareMetalHost ${HOSTS}/${ours}: metal3 has been asked to reboot the host`,
  ]);
});
