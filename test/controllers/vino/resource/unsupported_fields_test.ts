import { expect, test } from "bun:test";
import { checkSpec } from "../../../../lib/controllers/vino/resource/check_spec.ts";
import { listUnsupportedFields } from "../../../../lib/controllers/vino/resource/unsupported_fields.ts";
import { VINO_SAMPLES } from "../../../support/kinds/samples.ts";

async function listOfSample(name: "all-fields" | "tenant"): Promise<string[]> {
  const vino = (await VINO_SAMPLES.read(name)).find(({ kind }) => kind === "Vino");
  const checked = checkSpec(vino?.spec);
  return checked.isValid ? listUnsupportedFields(checked.spec) : ["invalid"];
}

test("listUnsupportedFields() lists what only libvirt could use, in the order of the spec", async () => {
  expect(await listOfSample("all-fields")).toEqual([
    "spec.nodeSelector",
    "spec.configuration",
    "spec.daemonSetOptions",
    "spec.pxeBootImageHost",
    "spec.pxeBootImageHostPort",
    "spec.networks[0].dhcpAllocationStart",
    "spec.networks[0].dhcpAllocationStop",
    "spec.networks[0].instanceSubnetBitStep",
    "spec.networks[0].physicalInterface",
    "spec.networks[0].libvirtTemplate",
    "spec.networks[0].bridgeName",
    "spec.networks[0].routes[1]",
    "spec.nodes[0].networkInterfaces[1].type",
    "spec.nodes[0].networkInterfaces[1].options",
    "spec.nodes[0].networkDataTemplate",
    "spec.nodes[0].enableVNC",
    "spec.nodes[0].libvirtTemplate",
    "spec.nodes[0].diskDrives",
  ]);
});

test("listUnsupportedFields() lists labels that only Landfall sets", () => {
  const spec = {
    nodeLabelKeysToCopy: ["example.com/rack", "landfall.dev/rack"],
    nodes: [
      {
        name: "worker",
        bmhLabels: {
          "vino.airshipit.org/vino": "other",
          "vino.airshipit.org/role": "other",
          "landfall.dev/vino-uid": "other",
        },
      },
    ],
  };
  expect(listUnsupportedFields(spec)).toEqual([
    "spec.nodeLabelKeysToCopy[1]",
    "spec.nodes[0].bmhLabels[vino.airshipit.org/vino]",
    "spec.nodes[0].bmhLabels[landfall.dev/vino-uid]",
  ]);
});

test("listUnsupportedFields() lists nothing of a new manifest", async () => {
  expect(await listOfSample("tenant")).toEqual([]);
  expect(listUnsupportedFields({})).toEqual([]);
});

test("listUnsupportedFields() lists a kind of addresses that is not that of the subnet", () => {
  const list = (type: string, subnet?: string): string[] =>
    listUnsupportedFields({
      networks: [{ name: "a", type, ...(subnet !== undefined && { subnet }) }],
    });
  expect(list("ipv6", "2001:db8::/64")).toEqual([]);
  expect(list("ipv6", "192.0.2.0/24")).toEqual(["spec.networks[0].type"]);
  expect(list("ipv4_dhcp", "192.0.2.0/24")).toEqual(["spec.networks[0].type"]);
  expect(list("ipv4")).toEqual(["spec.networks[0].type"]);
});
