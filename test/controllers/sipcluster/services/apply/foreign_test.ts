import { expect, test } from "bun:test";
import { findForeign } from "../../../../../lib/controllers/sipcluster/services/apply/foreign.ts";
import type { KubeObject } from "../../../../../lib/kube/kinds/resource.ts";

function toService(spec: object): KubeObject {
  const object = { kind: "Service", metadata: { name: "a" }, spec };
  return object;
}

function toDeployment(pod: object): KubeObject {
  const object = { kind: "Deployment", metadata: { name: "a" }, spec: { template: { spec: pod } } };
  return object;
}

const OURS = { port: 80, protocol: "TCP", nodePort: 30_001 };
const WANTED = toService({ selector: { app: "a" }, ports: [{ port: 80, protocol: "TCP" }] });

test.each<[string, KubeObject, KubeObject, object | undefined]>([
  ["nothing", toService({ selector: { app: "a" }, ports: [OURS] }), WANTED, undefined],
  ["nothing without the protocol", toService({ ports: [{ port: 80 }] }), WANTED, undefined],
  [
    "a port with another protocol",
    toService({ ports: [OURS, { port: 80, protocol: "UDP" }] }),
    WANTED,
    { spec: { ports: [OURS] } },
  ],
  [
    "keys of a selector, beside a port",
    toService({ selector: { app: "a", x: "1", y: "2" }, ports: [{ port: 1 }, OURS] }),
    WANTED,
    { spec: { ports: [OURS], selector: { x: null, y: null } } },
  ],
  [
    "containers",
    toDeployment({ containers: [{ name: "x" }, { name: "a", image: "i" }], initContainers: [{}] }),
    toDeployment({ containers: [{ name: "a" }] }),
    {
      spec: {
        template: { spec: { containers: [{ name: "a", image: "i" }], initContainers: null } },
      },
    },
  ],
  [
    "nothing of a ConfigMap",
    { kind: "ConfigMap", metadata: { name: "a" } },
    { kind: "ConfigMap", metadata: { name: "a" } },
    undefined,
  ],
])("findForeign() finds %s", (_what, live, wanted, expected) => {
  expect(findForeign(live, wanted)).toEqual(expected);
});
