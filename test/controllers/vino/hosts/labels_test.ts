import { describe, expect, test } from "bun:test";
import { toHostLabels, toNetworkLabel } from "../../../../lib/controllers/vino/hosts/labels.ts";
import { isLabelKey, isLabelValue } from "../../../../lib/core/text/label.ts";
import { toInstance } from "../../../support/cloud/instances.ts";
import { OWNER, toSource } from "../../../support/vino/wanted_hosts.ts";

const RACK = "vino.airshipit.org/rack";
const HOST = "vino.airshipit.org/host";
const DOMAIN = "infrastructure.cluster.x-k8s.io/failure-domain";
const ZONE = "topology.kubernetes.io/zone";
const REGION = "topology.kubernetes.io/region";
const TYPE = "node.kubernetes.io/instance-type";
const OFF = { poolId: "p1", firstHostId: "h1" };
const ON = { poolId: "p1", hostId: "h2", firstHostId: "h1" };

describe("toHostLabels()", () => {
  test("says whose a host is, what it is for and where it is, under names that never change", () => {
    const instance = toInstance("vm-0", {
      region: "p1",
      zone: "h2",
      instanceType: "4vCPU-8GB",
      labels: { "topology.k8s.xenorchestra/host_id": "h2" },
    });
    const { values, unknown } = toHostLabels(
      toSource({ networks: ["oam", "pxe"], machine: { ...ON, instance } }),
    );
    expect(values).toEqual({
      "landfall.dev/vino-uid": OWNER.uid,
      "vino.airshipit.org/vino": "edge",
      "vino.airshipit.org/role": "worker",
      "vino.airshipit.org/flavor": "worker",
      "vino.airshipit.org/host": "h2",
      "vino.airshipit.org/network.oam": "",
      "vino.airshipit.org/network.pxe": "",
      "topology.kubernetes.io/region": "p1",
      "topology.kubernetes.io/zone": "h2",
      "node.kubernetes.io/instance-type": "4vCPU-8GB",
      "topology.k8s.xenorchestra/host_id": "h2",
    });
    expect([...unknown]).toEqual([]);
  });

  test("of a machine that is off has the host where it starts, for a host that has no such label", () => {
    const { values, unknown } = toHostLabels(
      toSource({
        machine: OFF,
        failureDomain: "Host",
        nodeLabelKeysToCopy: [RACK],
      }),
    );
    expect([values[HOST], values[DOMAIN], values[RACK]]).toEqual(["h1", "h1", "r1"]);
    expect([...unknown].toSorted()).toEqual([DOMAIN, TYPE, REGION, ZONE, HOST, RACK].toSorted());
  });

  const domains = [
    ["None", ON, undefined],
    ["Host", ON, "h2"],
    ["Pool", ON, "p1"],
    ["Pool", OFF, "p1"],
  ] as const;
  test.each(domains)("with failureDomain %s of %j is %p", (failureDomain, machine, domain) => {
    const { values, recorded, unknown } = toHostLabels(toSource({ failureDomain, machine }));
    expect(values[DOMAIN]).toBe(domain);
    expect(recorded.has(DOMAIN)).toBe(domain !== undefined);
    expect(unknown.has(DOMAIN)).toBe(false);
  });

  test("lets bmhLabels win over tags and over what it knows by itself", () => {
    const bmhLabels = { [RACK]: "mine", "vino.airshipit.org/flavor": "large", [HOST]: "x" };
    const { values, unknown, recorded } = toHostLabels(
      toSource({ machine: OFF, nodeLabelKeysToCopy: [RACK], bmhLabels }),
    );
    expect(values).toMatchObject(bmhLabels);
    for (const key of Object.keys(bmhLabels))
      expect([unknown.has(key), recorded.has(key)]).toEqual([false, true]);
  });

  const reserved = [
    "landfall.dev/vino-uid",
    "landfall.dev/anything",
    "vino.airshipit.org/vino",
    "sip.airshipit.org/cluster-name",
  ];
  test.each(reserved)("leaves %s to Landfall, and says so", (key) => {
    const source = toSource({ bmhLabels: { [key]: "x" }, nodeLabelKeysToCopy: [key] });
    const { values, recorded, notices } = toHostLabels(source);
    expect(values[key]).not.toBe("x");
    expect(recorded.has(key)).toBe(false);
    expect(notices).toEqual([
      `nodeLabelKeysToCopy has ${key}, which only Landfall sets`,
      `bmhLabels has ${key}, which only Landfall sets`,
    ]);
  });

  type TagCase = readonly [
    tags: readonly string[],
    value: string | undefined,
    isUnknown: boolean,
    notice: string | undefined,
  ];
  const tagCases: readonly TagCase[] = [
    [["a", `${RACK}=r7`], "r7", false, undefined],
    [[`${RACK}=r7`, `${RACK}=r7`], "r7", false, undefined],
    [[`${RACK}=`], "", false, undefined],
    [["rack=r7"], undefined, false, `host h2 has no tag ${RACK}=…`],
    [[`${RACK}=r7`, `${RACK}=r8`], undefined, true, `host h2 has several tags ${RACK}=…: keep one`],
    [[`${RACK}=a b`], undefined, false, `whose value "a b" is no label value`],
  ];
  test.each(tagCases)("copies a tag of %j", (tags, value, isUnknown, notice) => {
    const { values, unknown, notices } = toHostLabels(
      toSource({ machine: ON, hosts: [{ id: "h2", tags }], nodeLabelKeysToCopy: [RACK] }),
    );
    expect([values[RACK], unknown.has(RACK), notices.length]).toEqual([
      value,
      isUnknown,
      notice === undefined ? 0 : 1,
    ]);
    expect(notices[0] ?? "").toContain(notice ?? "");
  });

  test("of a host that is not shown knows none of its tags", () => {
    const source = toSource({ machine: ON, hosts: [], nodeLabelKeysToCopy: [RACK] });
    const { values, unknown, notices } = toHostLabels(source);
    expect([values[RACK], unknown.has(RACK), notices]).toEqual([undefined, true, []]);
  });

  test("has only keys and values that Kubernetes takes, also for long names", () => {
    const owner = { ...OWNER, name: "v".repeat(200) };
    const networks = ["n".repeat(63), `${"n".repeat(62)}m`];
    const { values } = toHostLabels(
      toSource({ owner, networks, machine: { poolId: "p1", hostId: "no label" } }),
    );
    for (const [key, value] of Object.entries(values))
      expect([key, isLabelKey(key), isLabelValue(value)]).toEqual([key, true, true]);
    expect(new Set(networks.map(toNetworkLabel)).size).toBe(2);
  });
});
