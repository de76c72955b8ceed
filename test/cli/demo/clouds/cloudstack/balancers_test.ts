import { expect, test } from "bun:test";
import {
  describeBalancer,
  listBalancers,
  listDoors,
} from "../../../../../lib/cli/demo/clouds/cloudstack/balancers.ts";
import { createWebCloud } from "../../../../support/cloud/web_cloud.ts";

test("listBalancers() finds the addresses of one Service, with what the router and the firewall do", () => {
  const { state, ip, rules } = createWebCloud({
    ports: [443, 80],
    nodes: ["worker-4", "worker-3"],
  });
  const [found, ...others] = listBalancers(state, "default/web");
  expect(others).toEqual([]);
  expect(found?.ip).toBe(ip);
  expect(found?.ports.map(({ rule }) => rule.publicPort)).toEqual([80, 443]);
  expect(found?.ports[0]).toMatchObject({
    vms: ["worker-3", "worker-4"],
    sources: ["203.0.113.0/24"],
  });
  expect(listBalancers(state, "default/other")).toEqual([]);
  const [first] = rules;
  if (first === undefined) throw new Error("there is no rule");
  expect(listDoors(state, first)).toHaveLength(1);
});

test("listBalancers() shows no VM that the router does not have", () => {
  const { state, rules } = createWebCloud({ ports: [80], nodes: ["worker-3"] });
  for (const rule of rules) delete rule.applied;
  expect(listBalancers(state, "default/web")[0]?.ports[0]?.vms).toEqual([]);
});

test("describeBalancer() says what CloudStack has, and what is missing", () => {
  const { state, rules } = createWebCloud({ ports: [80], nodes: ["worker-3", "worker-4"] });
  const describe = (): string[] =>
    listBalancers(state, "default/web").flatMap((one) => describeBalancer(one, "default/web"));
  expect(describe()).toEqual([
    "198.51.100.10 is tagged default/web",
    "tcp 80 from 203.0.113.0/24 to worker-3, worker-4",
  ]);
  state.firewallRules.clear();
  for (const rule of rules) rule.members = [];
  expect(describe()[1]).toBe("tcp 80 from nowhere to no VM");
});
