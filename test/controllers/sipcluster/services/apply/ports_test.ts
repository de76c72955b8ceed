import { expect, test } from "bun:test";
import { listPorts } from "../../../../../lib/controllers/sipcluster/services/apply/ports.ts";

test.each([
  ["a Service", { kind: "Service", spec: { ports: [{ port: 80 }, { port: 443 }] } }, [80, 443]],
  ["a Service without ports", { kind: "Service", spec: {} }, []],
  ["a Deployment", { kind: "Deployment", spec: { ports: [{ port: 80 }] } }, []],
])("listPorts() of %s", (_what, object, ports) => {
  expect(listPorts({ ...object, metadata: { name: "a" } })).toEqual(ports);
});
