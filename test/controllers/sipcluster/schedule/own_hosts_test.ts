import { expect, test } from "bun:test";
import {
  listKeepable,
  sortHosts,
} from "../../../../lib/controllers/sipcluster/schedule/own_hosts.ts";
import { CLUSTER, toHost } from "../../../support/sipcluster/scheduling.ts";

test("sortHosts() tells apart what may be done with each host", () => {
  const hosts = [
    toHost("untouchable", {
      role: "Worker",
      isUntouchable: true,
      isInUse: true,
      trouble: "paused",
    }),
    toHost("used", { role: "Worker", isInUse: true, trouble: "unhealthy" }),
    toHost("loose", { role: "Worker" }),
    toHost("broken", { role: "Worker", trouble: "unhealthy" }),
    toHost("stray", { role: "none" }),
    toHost("b"),
    toHost("a", { trouble: "in error" }),
    toHost("other", { role: "Worker", cluster: "tenant/two" }),
  ];
  const { own, strays, free } = sortHosts({ cluster: CLUSTER, nodes: {}, hosts });
  const names = (list: readonly { readonly key: string }[] = []) =>
    list.map(({ key }) => key.slice(6));
  const workers = own.get("Worker");
  expect(names(workers?.untouchable)).toEqual(["untouchable"]);
  expect(names(workers?.used)).toEqual(["used"]);
  expect(names(workers?.loose)).toEqual(["loose"]);
  expect(names(workers?.broken)).toEqual(["broken"]);
  expect(names(listKeepable(workers))).toEqual(["untouchable", "used", "loose"]);
  expect(names(strays.loose)).toEqual(["stray"]);
  expect(names(free)).toEqual(["b", "a"]);
  expect(names(listKeepable(own.get("ControlPlane")))).toEqual([]);
});
