/**
 * Damaged answers of CloudStack about load balancers: nothing of others changes, and all is right again afterwards.
 * @module
 */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { ANNOTATIONS } from "../../../lib/providers/cloudstack/load_balancers/words.ts";
import { isPolluted, tries } from "../../support/net/hostile.ts";
import { applyDamage, type Damage, damage } from "../damage.ts";
import { withText } from "../mishap.ts";
import { OddStage } from "./stage.ts";

const ODD = "odd";
const ANY = fc.constantFrom(
  "listPublicIpAddresses",
  "listLoadBalancerRules",
  "listFirewallRules",
  "listLoadBalancerRuleInstances",
  "listLBStickinessPolicies",
  "associateIpAddress",
  "createTags",
  "createLoadBalancerRule",
  "createFirewallRule",
  "assignToLoadBalancerRule",
  "queryAsyncJobResult",
  "deleteFirewallRule",
  "deleteLoadBalancerRule",
  "disassociateIpAddress",
  "listNetworks",
  "listVirtualMachines",
  "listAsyncJobs",
  "listUsers",
  "listNetworkACLs",
  "createNetworkACL",
  "deleteNetworkACL",
  "createLBStickinessPolicy",
  "deleteTags",
);
const NETWORK = fc.constantFrom("isolated" as const, "tier" as const, "open" as const);
const TIMES = fc.integer({ min: 1, max: 4 });
const SOURCES = { loadBalancerSourceRanges: ["10.0.0.0/8"] };

/** Damages the next answers to a command. */
function spoil(odd: OddStage, wanted: string, { one, times }: { one: Damage; times: number }) {
  let left = times;
  odd.stage.bend = async (command, reply) => {
    if (command !== wanted || left === 0) return reply;
    left -= 1;
    return withText(reply, JSON.stringify(applyDamage(await reply.json(), one).value));
  };
}

test("damaged answers destroy nothing of others, and leave nothing behind", async () => {
  await fc.assert(
    fc.asyncProperty(NETWORK, ANY, damage, TIMES, async (network, command, one, times) => {
      await using odd = new OddStage(network);
      await odd.stage.clock.advance(5_000);
      spoil(odd, command, { one, times });
      odd.create(ODD, {
        annotations: { [ANNOTATIONS.stickinessMethod]: "SourceBased" },
        spec: SOURCES,
      });
      await odd.stage.clock.advance(20_000);
      odd.checkForeign();
      odd.listSaid();
      odd.stage.bend = undefined;
      await odd.until("it has no address", () => odd.readAddress(ODD) !== undefined);
      await odd.until("it has two addresses", () => odd.listOwned().length === 1);
      for (const { sources } of odd.listOpenings()) {
        expect(sources).toEqual(SOURCES.loadBalancerSourceRanges);
      }
      odd.checkForeign();
      spoil(odd, command, { one, times });
      odd.stage.objects.delete("services", { name: ODD, namespace: "default" });
      await odd.stage.clock.advance(20_000);
      odd.checkForeign();
      odd.stage.bend = undefined;
      await odd.until("it stays", () => odd.find(ODD) === undefined);
      await odd.until("its address stays", () => odd.listOwned().length === 0);
      odd.checkNothingLeft();
    }),
    tries(8),
  );
  expect(isPolluted()).toBe(false);
});
