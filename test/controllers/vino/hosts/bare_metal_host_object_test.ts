import { describe, expect, test } from "bun:test";
import {
  isOn,
  toBareMetalHost,
} from "../../../../lib/controllers/vino/hosts/bare_metal_host_object.ts";
import type { WantedHost } from "../../../../lib/controllers/vino/hosts/types.ts";
import { BMC, OWNER, toWanted } from "../../../support/vino/wanted_hosts.ts";

const DETAILS = "inspect.metal3.io/hardwaredetails";

function toParts(host: Partial<WantedHost>): {
  readonly spec: object;
  readonly annotations: Readonly<Record<string, string>>;
} {
  const { spec, metadata } = toBareMetalHost(OWNER, toWanted(0, host));
  return { spec, annotations: metadata.annotations ?? {} };
}

describe("toBareMetalHost()", () => {
  test("of a machine from a template without a management controller (level A and B)", () => {
    const { metadata, ...rest } = toBareMetalHost(OWNER, toWanted());
    expect(rest).toEqual({
      apiVersion: "metal3.io/v1alpha1",
      kind: "BareMetalHost",
      spec: {
        online: false,
        networkData: { name: "edge-worker-0-network-data", namespace: "metal" },
        bootMACAddress: "02:00:00:00:00:00",
        bootMode: "UEFI",
        rootDeviceHints: { deviceName: "/dev/xvda" },
        externallyProvisioned: true,
      },
    });
    expect(Object.keys(metadata).toSorted()).toEqual([
      "annotations",
      "labels",
      "name",
      "namespace",
    ]);
    expect(metadata.annotations).toMatchObject({
      "landfall.dev/machine": "vino-1b4e28ba-worker-0",
      "landfall.dev/machine-id": "vm-0",
      "inspect.metal3.io": "disabled",
    });
  });

  type Case = readonly [
    what: string,
    host: Partial<WantedHost>,
    online: boolean,
    isInspected: boolean,
  ];
  const cases: readonly Case[] = [
    ["runs, without a controller", { power: "running" }, false, false],
    ["runs, with one", { bmc: BMC, power: "running" }, true, false],
    ["is off, with one", { bmc: BMC, power: "stopped" }, false, false],
    [
      "is blank and off, with one",
      { bmc: BMC, power: "stopped", isExternallyProvisioned: false },
      false,
      true,
    ],
    ["is blank, without one", { isExternallyProvisioned: false }, false, false],
  ];
  test.each(cases)("of a machine that %s", (_what, host, online, isInspected) => {
    const { spec, annotations } = toParts(host);
    expect(spec).toHaveProperty("online", online);
    expect([DETAILS in annotations, "inspect.metal3.io" in annotations]).toEqual([
      !isInspected,
      !isInspected,
    ]);
    expect("externallyProvisioned" in spec).toBe(host.isExternallyProvisioned ?? true);
  });

  test("names the Secret of a management controller, and checks its certificate unless told", () => {
    const { spec } = toParts({ bmc: BMC });
    expect(spec).toHaveProperty("bmc", {
      address: BMC.address,
      credentialsName: "edge-worker-0-bmc-credentials",
    });
    const loose = toParts({ bmc: { ...BMC, skipsCertificateCheck: true } });
    expect(loose.spec).toHaveProperty("bmc.disableCertificateVerification", true);
    expect(JSON.stringify([spec, loose])).not.toContain(BMC.password);
  });

  test("says which firmware the machine has: metal3 takes UEFI otherwise, for good", () => {
    const { spec } = toBareMetalHost(OWNER, toWanted(0, { firmware: "bios" }));
    expect(spec).toHaveProperty("bootMode", "legacy");
  });

  test("leaves out what the machine does not have", () => {
    const { bootMac: _mac, ...bare } = toWanted(0, { interfaces: [], firmware: "unknown" });
    const { spec } = toBareMetalHost(OWNER, bare);
    expect(spec).not.toHaveProperty("bootMACAddress");
    expect(spec).not.toHaveProperty("bootMode");
  });
});

test.each([
  ["running", true],
  ["paused", true],
  ["unknown", true],
  ["stopped", false],
  ["suspended", false],
] as const)("isOn() of a machine that is %s is %p", (power, expected) => {
  expect(isOn(power)).toBe(expected);
});
