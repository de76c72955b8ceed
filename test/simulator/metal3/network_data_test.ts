import { expect, test } from "bun:test";
import { formatNetworkData } from "../../../lib/simulator/metal3/hosts.ts";

test("formatNetworkData() gives each network a link, and an address unless a DHCP server does", () => {
  const text = formatNetworkData([
    { id: "oam-ipv4", address: "10.0.0.1/24" },
    { id: "oam-ipv6", address: "fd00::1" },
    { id: "pxe" },
  ]);
  expect(JSON.parse(text)).toMatchObject({
    links: [{ id: "eno1" }, { id: "eno2" }, { id: "eno3" }],
    networks: [
      { id: "oam-ipv4", type: "ipv4", link: "eno1", ip_address: "10.0.0.1/24" },
      { id: "oam-ipv6", type: "ipv6", link: "eno2", ip_address: "fd00::1" },
      { id: "pxe", type: "ipv4_dhcp", link: "eno3" },
    ],
  });
});
