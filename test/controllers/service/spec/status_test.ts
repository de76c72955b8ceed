import { expect, test } from "bun:test";
import {
  hasDroppedIpMode,
  showsAnnotations,
  showsIngress,
} from "../../../../lib/controllers/service/spec/status.ts";
import type { LoadBalancerIngress } from "../../../../lib/cloud/capabilities/load_balancers.ts";
import type { Service, ServiceIngress } from "../../../../lib/kube/kinds/service.ts";

const toStatus = (ingress: readonly ServiceIngress[]): Pick<Service, "status"> => ({
  status: { loadBalancer: { ingress } },
});
const ip = "192.0.2.1";

test.each<[string, readonly ServiceIngress[], readonly LoadBalancerIngress[], boolean]>([
  ["nothing of nothing", [], [], true],
  ["nothing of an address", [], [{ ip }], false],
  ["an address of nothing", [{ ip }], [], false],
  ["VIP without the field", [{ ip }], [{ ip, ipMode: "VIP" }], true],
  ["VIP that was not asked for", [{ ip, ipMode: "VIP" }], [{ ip }], true],
  ["VIP instead of Proxy", [{ ip, ipMode: "VIP" }], [{ ip, ipMode: "Proxy" }], false],
  ["Proxy instead of VIP", [{ ip, ipMode: "Proxy" }], [{ ip }], false],
  ["no field instead of Proxy", [{ ip }], [{ ip, ipMode: "Proxy" }], false],
  ["a hostname", [{ hostname: "a" }], [{ hostname: "a" }], true],
  ["a hostname beside an address", [{ ip, hostname: "a" }], [{ hostname: "a" }], false],
  ["another order", [{ ip: "192.0.2.2" }, { ip }], [{ ip }, { ip: "192.0.2.2" }], false],
  [
    "the state of ports, of another program",
    [{ ip, ports: [{ port: 80, protocol: "TCP" }] }],
    [{ ip }],
    true,
  ],
])("S-18 showsIngress() with %s", (_what, actual, wanted, expected) => {
  expect(showsIngress(toStatus(actual), wanted, { dropsIpMode: false })).toBe(expected);
});

test("S-18 showsIngress() asks a server that drops ipMode for nothing", () => {
  const wanted: LoadBalancerIngress[] = [{ ip, ipMode: "Proxy" }];
  expect(showsIngress(toStatus([{ ip }]), wanted, { dropsIpMode: true })).toBe(true);
});

test.each<[string, readonly ServiceIngress[], readonly LoadBalancerIngress[], boolean]>([
  ["an answer with it", [{ ip, ipMode: "Proxy" }], [{ ip, ipMode: "Proxy" }], false],
  ["an answer without it", [{ ip }], [{ ip, ipMode: "Proxy" }], true],
  ["an answer about something else", [{ ip: "192.0.2.9" }], [{ ip, ipMode: "Proxy" }], false],
  ["no mode given", [{ ip }], [{ ip }], false],
  ["a hostname", [{ hostname: "a" }], [{ hostname: "a" }], false],
])("hasDroppedIpMode() with %s", (_what, answer, given, expected) => {
  expect(hasDroppedIpMode(toStatus(answer), given)).toBe(expected);
});

test("showsAnnotations() compares only what is asked for", () => {
  const service = { metadata: { name: "shop", annotations: { a: "1", b: "2" } } };
  expect(showsAnnotations(service, { a: "1", c: undefined })).toBe(true);
  expect(showsAnnotations(service, { a: "2" })).toBe(false);
  expect(showsAnnotations(service, { b: undefined })).toBe(false);
});
