import { describe, expect, test } from "bun:test";
import {
  type NetworkService,
  readServices,
} from "../../../../lib/providers/cloudstack/wire/network_services.ts";

const STICKINESS = [
  {
    methodname: "LbCookie",
    description: "inserts a cookie",
    paramlist: [
      { paramname: "cookie-name", required: false, isflag: false, description: "its name" },
      { paramname: "nocache", required: "false", isflag: "true" },
    ],
  },
  { methodname: "SourceBased" },
];

function toLb(capabilities: Record<string, string | null>): NetworkService {
  const capability = Object.entries(capabilities).map(([name, value]) => ({ name, value }));
  return { name: "Lb", capability };
}

describe("readServices()", () => {
  test("reads what a network offers", () => {
    const lb = toLb({
      SupportedLbAlgorithms: "RoundRobin,leastconn,source",
      SupportedProtocols: "tcp, udp, tcp-proxy",
      SupportedStickinessMethods: JSON.stringify(STICKINESS),
    });
    expect(readServices([lb, { name: "Firewall" }])).toEqual({
      hasLoadBalancers: true,
      hasFirewall: true,
      hasNetworkAcl: false,
      algorithms: new Set(["roundrobin", "leastconn", "source"]),
      protocols: new Set(["tcp", "udp", "tcp-proxy"]),
      stickiness: [
        {
          name: "LbCookie",
          params: new Map([
            ["cookie-name", { isRequired: false, isFlag: false }],
            ["nocache", { isRequired: false, isFlag: true }],
          ]),
        },
        { name: "SourceBased", params: new Map() },
      ],
    });
  });

  test.each<[string, NetworkService[]]>([
    ["has no capabilities", [{ name: "lb" }, { name: "NetworkACL", capability: null }]],
    ["says nothing about them", [toLb({}), { name: "NetworkACL" }]],
    [
      "says it in a form that is not known",
      [
        toLb({ SupportedStickinessMethods: "[{", SupportedProtocols: null }),
        { name: "NETWORKACL" },
      ],
    ],
    [
      "has methods without names",
      [toLb({ SupportedStickinessMethods: '[{"name":"x"}]' }), { name: "NetworkACL" }],
    ],
  ])("leaves out what a network does not say: it %s", (_what, services) => {
    const expected = { hasLoadBalancers: true, hasFirewall: false, hasNetworkAcl: true };
    expect(readServices(services)).toEqual(expected);
  });

  test("a network without services offers nothing", () => {
    const expected = { hasLoadBalancers: false, hasFirewall: false, hasNetworkAcl: false };
    expect(readServices([])).toEqual(expected);
  });
});
