/**
 * A CloudStack that refuses what one port of a Service needs.
 * @module
 */
import { expect, test } from "bun:test";
import { OddStage } from "./stage.ts";

const PORTS = [80, 443].map((port) => ({
  name: `p${port}`,
  port,
  nodePort: 30_000 + port,
  protocol: "TCP",
  targetPort: 8_080,
}));

test("a firewall rule that is refused for ever holds up neither other ports nor any backends", async () => {
  await using odd = new OddStage();
  const { stage } = odd;
  odd.create("odd", { spec: { ports: PORTS } });
  await odd.until("it has no address", () => odd.readAddress("odd") !== undefined);
  const refusal = { kind: "error", code: 530, text: "the router says no" } as const;
  const command = "createFirewallRule";
  const ends = [stage.cloud.faults.set(refusal, { command, value: "80" })];
  odd.change("odd", { spec: { loadBalancerSourceRanges: ["10.0.0.0/8"] } });
  const [first] = stage.site.nodes;
  const name = String(first?.metadata?.["name"]);
  stage.objects.delete("nodes", { name });
  await stage.clock.advance(60_000);
  const [, https] = odd
    .listOpenings()
    .toSorted((a, b) => Number.parseInt(a.ports) - Number.parseInt(b.ports));
  expect(https).toMatchObject({ ports: "443-443", sources: ["10.0.0.0/8"] });
  expect(listBackends(odd)).toEqual([
    [80, 2],
    [443, 2],
  ]);
  expect(odd.listSaid().join()).toContain("the router says no");
  for (const end of ends) end();
  const isRestricted = (): boolean =>
    odd.listOpenings().every(({ sources }) => sources.join() === "10.0.0.0/8");
  await odd.until("it stays open", isRestricted);
  ends.push(stage.cloud.faults.set(refusal, { command: "deleteFirewallRule", times: 3 }));
  await odd.checkBeside();
  await odd.remove("odd");
  odd.checkNothingLeft();
});

/** How many backends each port has. */
function listBackends({ stage }: OddStage): readonly (readonly [number, number])[] {
  return [...stage.cloud.state.loadBalancerRules.values()]
    .filter(({ publicPort }) => PORTS.some(({ port }) => port === publicPort))
    .map(({ publicPort, members }) => [publicPort, members.length] as const)
    .toSorted(([one], [other]) => one - other);
}
