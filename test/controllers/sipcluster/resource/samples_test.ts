import { expect, test } from "bun:test";
import * as v from "valibot";
import { parseNetworkData } from "../../../../lib/controllers/sipcluster/hosts/network_data.ts";
import { checkSpec } from "../../../../lib/controllers/sipcluster/resource/check_spec.ts";
import { SIP_CLUSTER_KIND } from "../../../../lib/controllers/sipcluster/resource/crd.ts";
import { parseAuthorizedKey } from "../../../../lib/controllers/sipcluster/services/jump_host/authorized_key.ts";
import { listPaths } from "../../../support/kinds/schemas.ts";
import { SIP_CLUSTER_SAMPLES } from "../../../support/kinds/samples.ts";

const objects = (await Promise.all(SIP_CLUSTER_SAMPLES.names.map(SIP_CLUSTER_SAMPLES.read))).flat();
const clusters = objects.filter(({ kind }) => kind === "SIPCluster");
const [{ schema }] = SIP_CLUSTER_KIND.crd.spec.versions;
const Host = v.object({
  spec: v.object({
    networkData: v.optional(v.object({ name: v.string() })),
    preprovisioningNetworkDataName: v.optional(v.string()),
  }),
});
const Secret = v.object({ stringData: v.record(v.string(), v.string()) });

test("the samples are right, and nothing of them is left out", () => {
  expect(clusters.length).toBe(3);
  for (const { spec } of clusters) {
    const checked: unknown = checkSpec(spec);
    expect(checked).toEqual({ isValid: true, spec });
  }
});

test("the samples have every field that a spec may have", () => {
  const spec = schema.openAPIV3Schema.properties?.["spec"] ?? schema.openAPIV3Schema;
  const used = new Set(clusters.flatMap((one) => listPaths(spec, one.spec)));
  expect([...new Set(listPaths(spec))].filter((path) => !used.has(path))).toEqual([]);
});

test("each host of the samples has static addresses on the networks of its cluster", () => {
  const secrets = new Map(
    objects.filter(({ kind }) => kind === "Secret").map((one) => [one.metadata.name, one]),
  );
  const hosts = objects.filter(({ kind }) => kind === "BareMetalHost");
  expect(hosts.length).toBe(11);
  for (const host of hosts) {
    const { networkData, preprovisioningNetworkDataName } = v.parse(Host, host).spec;
    const secret = secrets.get(networkData?.name ?? preprovisioningNetworkDataName ?? "");
    const { networkData: text, value } = v.parse(Secret, secret).stringData;
    const data = parseNetworkData(text ?? value ?? "");
    const networks = "addresses" in data ? [...data.addresses.keys()] : [];
    expect(networks).toEqual(
      host.metadata.namespace === "metal" ? ["oam-ipv4", "oam-ipv6"] : ["management"],
    );
  }
});

test("sshd accepts the keys of the samples", () => {
  const keys = clusters.flatMap(({ spec }) => {
    const checked = checkSpec(spec);
    const hosts = checked.isValid ? (checked.spec.services.jumpHost ?? []) : [];
    return hosts.flatMap(({ sshAuthorizedKeys = [] }) => sshAuthorizedKeys);
  });
  expect(keys.length).toBe(4);
  expect(keys.map(parseAuthorizedKey).filter((one) => "problem" in one)).toEqual([]);
});
