import { expect, test } from "bun:test";
import { drawRacks } from "../../../../lib/cli/demo/sipcluster/drawing.ts";
import { breakHost } from "../../../../lib/simulator/metal3/hosts.ts";
import { createHosts, HOSTS } from "../../../support/metal3/objects.ts";

test("drawRacks() shows who has each host, and what is broken", () => {
  const objects = createHosts([
    { name: "r1", flavors: { "control-plane": 1, worker: 3 } },
    { name: "r2", flavors: { worker: 2 } },
  ]);
  const label = (name: string, cluster: string, more: object = {}): void => {
    const labels = { "sip.airshipit.org/cluster-name": cluster, ...more };
    objects.patch("baremetalhosts", { namespace: HOSTS, name }, { metadata: { labels } });
  };
  label("r1-control-plane-1", "blue");
  const consumerRef = { kind: "Metal3Machine", name: "m", namespace: HOSTS };
  const path = { namespace: HOSTS, name: "r1-control-plane-1" };
  objects.patch("baremetalhosts", path, { spec: { consumerRef } });
  label("r1-worker-1", "red");
  label("r1-worker-2", "red", { "sip.airshipit.org/standby": "true" });
  breakHost(objects, { namespace: HOSTS, name: "r2-worker-1" }, "no power");
  expect(drawRacks(objects.list("baremetalhosts"))).toEqual([
    "     r1   control-plane B    worker r  r* .",
    "     r2   worker x  .",
  ]);
});
