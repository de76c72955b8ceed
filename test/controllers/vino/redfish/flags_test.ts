import { expect, test } from "bun:test";
import {
  judgeRedfishFlags,
  readRedfishSettings,
  REDFISH_ADDRESS_FLAG,
  REDFISH_FLAGS,
  REDFISH_POD_IP_FLAG,
  REDFISH_SERVICE_FLAG,
  REDFISH_URL_FLAG,
  toBmcAddress,
  toManagementPlace,
} from "../../../../lib/controllers/vino/redfish/flags.ts";

const ADDRESS = { "vino-redfish-address": "0.0.0.0:8443" };
const URL_FLAG = { "vino-redfish-url": "https://redfish.metal.svc:8443" };
const FILES = {
  "vino-redfish-tls-cert-file": "/tls/tls.crt",
  "vino-redfish-tls-private-key-file": "/tls/tls.key",
};

test("readRedfishSettings() is off without an address", () => {
  expect(readRedfishSettings({})).toBeUndefined();
  expect(readRedfishSettings({ ...URL_FLAG, ...FILES })).toBeUndefined();
});

test("readRedfishSettings() reads the flags together", () => {
  const url = new URL("https://redfish.metal.svc:8443");
  expect(readRedfishSettings({ ...ADDRESS, ...URL_FLAG })).toEqual({
    address: "0.0.0.0:8443",
    url,
  });
  expect(readRedfishSettings({ ...ADDRESS, ...URL_FLAG, ...FILES })).toEqual({
    address: "0.0.0.0:8443",
    url,
    certFile: "/tls/tls.crt",
    keyFile: "/tls/tls.key",
  });
});

test.each([
  [ADDRESS, "--vino-redfish-url: must be an https URL, because hosts have it as their address"],
  [
    { ...ADDRESS, ...URL_FLAG, "vino-redfish-tls-cert-file": "/tls/tls.crt" },
    "--vino-redfish-tls-private-key-file: required together with --vino-redfish-tls-cert-file",
  ],
  [
    { ...ADDRESS, ...URL_FLAG, "vino-redfish-tls-private-key-file": "/tls/tls.key" },
    "--vino-redfish-tls-cert-file: required together with --vino-redfish-tls-private-key-file",
  ],
  [
    { ...ADDRESS, ...URL_FLAG, "vino-redfish-service": "metal/redfish" },
    "--vino-redfish-pod-ip: required together with --vino-redfish-service",
  ],
  [
    { ...ADDRESS, ...URL_FLAG, "vino-redfish-pod-ip": "10.0.0.1" },
    "--vino-redfish-service: required together with --vino-redfish-pod-ip",
  ],
])("readRedfishSettings() refuses %j", (values, message) => {
  expect(() => readRedfishSettings(values)).toThrow(message);
});

test.each([
  ["", undefined],
  ["https://a", undefined],
  ["https://a:8443/", undefined],
  ["https://[fd00::1]:8443", undefined],
  ["http://a", "an https URL without a path"],
  ["https://a/redfish", "an https URL without a path"],
  ["https://u:p@a", "an https URL without a path"],
  ["a:8443", "an https URL without a path"],
])("REDFISH_URL_FLAG takes %j: %s", (text, problem) => {
  expect(REDFISH_URL_FLAG.findProblem(text)).toBe(problem);
});

test("readRedfishSettings() points a Service to the port of the address", () => {
  const more = { "vino-redfish-service": "metal/redfish", "vino-redfish-pod-ip": "FD00::1" };
  expect(readRedfishSettings({ ...ADDRESS, ...URL_FLAG, ...more })).toMatchObject({
    endpoint: { namespace: "metal", service: "redfish", ip: "fd00::1", port: 8443 },
  });
});

test.each([
  ["", undefined],
  ["kube-system/landfall-redfish", undefined],
  ["landfall-redfish", "the namespace and the name of a Service: a/b"],
  ["a/b/c", "the namespace and the name of a Service: a/b"],
  ["a/B", "the namespace and the name of a Service: a/b"],
])("REDFISH_SERVICE_FLAG takes %j: %s", (text, problem) => {
  expect(REDFISH_SERVICE_FLAG.findProblem(text)).toBe(problem);
});

test("REDFISH_POD_IP_FLAG takes an address alone", () => {
  expect(REDFISH_POD_IP_FLAG.findProblem("fd00::1")).toBeUndefined();
  expect(REDFISH_POD_IP_FLAG.findProblem("10.0.0.1:8443")).toBe("an IP address");
});

test("toBmcAddress() is an address for metal3", () => {
  const url = new URL("https://redfish.metal.svc:8443/");
  expect(toBmcAddress({ url }, "a1")).toBe(
    "redfish+https://redfish.metal.svc:8443/redfish/v1/Systems/a1",
  );
});

test("REDFISH_FLAGS are all off by default", () => {
  expect(REDFISH_FLAGS.map((flag) => [flag.default, flag.findProblem("")])).toEqual(
    REDFISH_FLAGS.map(() => ["", undefined]),
  );
});

test("judgeRedfishFlags() says what does not fit together, and what does nothing", () => {
  expect(judgeRedfishFlags({})).toEqual({ issues: [], warnings: [] });
  expect(judgeRedfishFlags({ ...ADDRESS, ...URL_FLAG })).toEqual({ issues: [], warnings: [] });
  const { issues, warnings } = judgeRedfishFlags({ ...ADDRESS, "vino-redfish-pod-ip": "10.0.0.1" });
  expect(issues.map(({ source }) => source)).toEqual([
    "--vino-redfish-url",
    "--vino-redfish-service",
  ]);
  expect(warnings).toEqual([]);
  expect(judgeRedfishFlags({ ...URL_FLAG, ...FILES }).warnings).toEqual([
    "flags without effect: --vino-redfish-url --vino-redfish-tls-cert-file " +
      "--vino-redfish-tls-private-key-file (without --vino-redfish-address, Landfall serves no Redfish)",
  ]);
});

test.each([
  ["", true],
  ["0.0.0.0:8443", true],
  ["[::]:8443", true],
  ["localhost:8443", true],
  ["nonsense", false],
  ["8443", false],
  ["0.0.0.0:99999", false],
  ["/run/redfish.sock", false],
])("REDFISH_ADDRESS_FLAG takes %j: %s", (text, isTaken) => {
  expect(REDFISH_ADDRESS_FLAG.findProblem(text) === undefined).toBe(isTaken);
});

test("toManagementPlace() names the host of the URL, and files only if there are both", () => {
  const place = { address: "0.0.0.0:8443", url: new URL("https://[fd00::1]:8443") };
  const files = { certFile: "/tls/tls.crt", keyFile: "/tls/tls.key" };
  expect(toManagementPlace(place)).toMatchObject({ address: place.address, names: ["fd00::1"] });
  expect(toManagementPlace(place)).not.toHaveProperty("certFile");
  expect(toManagementPlace({ ...place, ...files })).toMatchObject(files);
});
