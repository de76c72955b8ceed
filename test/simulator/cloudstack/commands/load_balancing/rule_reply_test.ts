import { expect, test } from "bun:test";
import { toRuleReply } from "../../../../../lib/simulator/cloudstack/commands/load_balancing/rule_reply.ts";
import { createDemoWorld } from "../../../../../lib/simulator/cloudstack/mod.ts";
import { toLoadBalancerRule } from "../../../../../lib/simulator/cloudstack/world/load_balancing.ts";
import { CloudStackState } from "../../../../../lib/simulator/cloudstack/world/state.ts";

test("toRuleReply() has ports as text, and leaves out what a rule lacks", () => {
  const story = createDemoWorld();
  const state = new CloudStackState(story.world);
  const [ip] = state.publicIps.values();
  if (ip === undefined) throw new Error("no address");
  const { protocol: _, ...rule } = {
    ...toLoadBalancerRule({ ip, name: "web", algorithm: "source" }),
    id: "r",
  };
  const reply = toRuleReply(rule, state);
  expect(reply).toEqual({
    id: "r",
    name: "web",
    publicipid: ip.id,
    publicip: "192.0.2.10",
    publicport: "80",
    privateport: "30080",
    algorithm: "source",
    cidrlist: "",
    account: "acme",
    domainid: expect.any(String),
    domain: "ROOT",
    state: "Add",
    zoneid: story.zoneIds.paris,
    zonename: "paris",
    networkid: ip?.networkId ?? "",
    fordisplay: true,
    tags: [],
  });
  const more = { description: "d", protocol: "udp", cidrList: "10.0.0.0/8,::/0" };
  const { cidrList, ...shown } = more;
  expect(toRuleReply({ ...rule, ...more }, state)).toMatchObject({ ...shown, cidrlist: cidrList });
});
