/**
 * The schema of the networks of a Vino.
 * @module
 */
import * as v from "valibot";
import { parseIp, parseMaskedCidr } from "../../../../core/net/ip.ts";
import {
  form,
  list,
  listBy,
  object,
  optional,
  required,
  type Schema,
  text,
  wholeNumber,
  withRules,
} from "../../../kinds/parts.ts";
import { listRangeProblems } from "../address_range.ts";
import { listGatewayProblems } from "../gateways.ts";
import { BRIDGE_GATEWAY, type VinoNetwork, type VinoRoute } from "../vino.ts";
import { ipAddress, macAddress, ofHost, subnet } from "./fields.ts";
import { NETWORKS_MAX } from "./xen_orchestra.ts";

/** Its key in the metadata of Secrets and labels, so no blanks. */
const NETWORK_NAME = form(
  /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/,
  63,
  'letters, digits, "-", "_" and ".", with a letter or digit at both ends',
);
const TEXT = text(253);
const ABOUT_LIBVIRT = "Without a meaning here. Old manifests have it.";

const ROUTE: Schema<VinoRoute> = v.pipe(
  object<VinoRoute>({
    network: required(ipAddress(), "First address of the network, such as 198.51.100.0."),
    netmask: required(ipAddress(), "Netmask in the form of an address, such as 255.255.255.0."),
    gateway: required(
      ofHost(
        v.pipe(
          text(45),
          v.check(
            (one) => one === BRIDGE_GATEWAY || parseIp(one) !== undefined,
            "must be an IP address",
          ),
        ),
      ),
      `Address of the gateway. Machines get no route to ${BRIDGE_GATEWAY}, the bridge of a host of old.`,
    ),
  }),
  v.check(isOfOneFamily, "network, netmask and gateway must be of the same family"),
  v.check(isNetmask, "netmask must be ones and then zeros"),
);

/** The schema of `spec.networks`. */
export const NETWORKS: Schema<readonly VinoNetwork[]> = listBy("name", toNetwork(), NETWORKS_MAX);

function toNetwork(): Schema<VinoNetwork> {
  const fields = object<VinoNetwork>({
    name: required(NETWORK_NAME, "Name of the network."),
    subnet: optional(subnet(), "Its subnet in CIDR form, such as 192.0.2.0/24."),
    type: optional(TEXT, "Its kind of addresses: ipv4 or ipv6. The subnet says the same."),
    staticAllocationStart: optional(
      ipAddress(),
      "The first address that machines get. Absent: machines get none from here.",
    ),
    staticAllocationStop: optional(ipAddress(), "The last address that machines get."),
    dhcpAllocationStart: optional(TEXT, ABOUT_LIBVIRT),
    dhcpAllocationStop: optional(TEXT, ABOUT_LIBVIRT),
    instanceSubnetBitStep: optional(wholeNumber(0, 128), ABOUT_LIBVIRT),
    dns_servers: optional(list(ofHost(ipAddress()), 8), "Addresses of name servers."),
    routes: optional(list(ROUTE, 64), "Routes of machines."),
    macPrefix: optional(
      macAddress(),
      "Beginning of MAC addresses, six pairs with colons. Zeros at its end are free.",
    ),
    physicalInterface: optional(TEXT, ABOUT_LIBVIRT),
    libvirtTemplate: optional(TEXT, ABOUT_LIBVIRT),
    bridgeName: optional(TEXT, ABOUT_LIBVIRT),
  });
  const both = withRules(fields, [
    {
      cel: "has(self.staticAllocationStart) == has(self.staticAllocationStop)",
      message: "staticAllocationStart and staticAllocationStop belong together",
      holds: ({ staticAllocationStart: start, staticAllocationStop: stop }) =>
        (start === undefined) === (stop === undefined),
    },
    {
      cel: "!has(self.staticAllocationStart) || has(self.subnet)",
      message: "a network with static addresses needs a subnet",
      holds: ({ staticAllocationStart, subnet: block }) =>
        staticAllocationStart === undefined || block !== undefined,
    },
  ]);
  return v.pipe(
    both,
    v.rawCheck(({ dataset, addIssue }) => {
      if (!dataset.typed) return;
      for (const message of listGatewayProblems(dataset.value)) addIssue({ message });
      const {
        subnet: block,
        staticAllocationStart: start,
        staticAllocationStop: stop,
      } = dataset.value;
      if (block === undefined || start === undefined || stop === undefined) return;
      const names = { start: "staticAllocationStart", stop: "staticAllocationStop" };
      for (const message of listRangeProblems(block, { start, stop }, names)) addIssue({ message });
    }),
  );
}

/** Whether the texts are addresses of one family. One that is none has its own problem. */
function isOfOneFamily({ network, netmask, gateway }: VinoRoute): boolean {
  const families = [network, netmask, gateway].flatMap((one) => parseIp(one)?.family ?? []);
  return new Set(families).size <= 1;
}

/** Whether only ones stand before zeros. An address that is none has its own problem, as has another family. */
function isNetmask({ network, netmask, gateway }: VinoRoute): boolean {
  const isReadable = parseIp(network) !== undefined && parseIp(netmask) !== undefined;
  if (!isReadable || !isOfOneFamily({ network, netmask, gateway })) return true;
  return parseMaskedCidr(network, netmask) !== undefined;
}
