import { expect, test } from "bun:test";
import { listWithoutPools } from "../../../../lib/cli/check/controllers/without_pools.ts";
import { RECORD } from "../../../../lib/controllers/service/words.ts";
import type { Service } from "../../../../lib/kube/kinds/service.ts";

function toService(name: string, ip: string | undefined, more: object = {}): Service {
  return {
    metadata: { name, namespace: "web", uid: name, ...more },
    spec: { type: "LoadBalancer" },
    status: { loadBalancer: { ingress: ip === undefined ? [] : [{ ip }] } },
  };
}

const RECORDED = { annotations: { [RECORD]: '{"v":1,"addresses":["192.0.2.1"]}' } };

test.each<[string, readonly Service[], readonly string[]]>([
  ["nothing without Services", [], []],
  [
    "nothing of Services that another program serves, or none",
    [toService("a", "192.0.2.1"), toService("b", undefined)],
    [],
  ],
  [
    "of a Service with an address",
    [toService("a", "192.0.2.1", RECORDED), toService("other", "192.0.2.9")],
    ["1 Service has or waits for an address, but these settings have no address pools: web/a"],
  ],
  [
    "of those that wait beside it",
    [toService("a", "192.0.2.1", RECORDED), toService("b", undefined)],
    [
      "2 Services have or wait for an address, but these settings have no address pools: web/a, web/b",
    ],
  ],
])("listWithoutPools() warns %s", (_what, services, expected) => {
  expect(listWithoutPools(services).map(({ message }) => message)).toEqual([...expected]);
});
