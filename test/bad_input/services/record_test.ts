/**
 * Records of load balancers that somebody else wrote: they prove nothing.
 * @module
 */
import { describe, expect } from "bun:test";
import { formatTime } from "../../../lib/core/clock.ts";
import { LB_COMMANDS } from "../../../lib/providers/cloudstack/load_balancers/commands.ts";
import { PINNED_IP, USED_IP } from "../../support/services/site.ts";
import { OddStage } from "./stage.ts";
import { longTest } from "../../support/long_tests.ts";

const RECORD = "landfall.dev/load-balancer";
const ODD = "odd";

describe("a forged record", () => {
  const FORGED: readonly [string, (odd: OddStage, uid: string) => object | string][] = [
    ["names an address that others use", (odd, uid) => forge(odd, uid, USED_IP)],
    ["names an address of the user", (odd, uid) => forge(odd, uid, PINNED_IP)],
    ["names an address of the user, of another Service", (odd) => forge(odd, "x", PINNED_IP)],
    ["is of another version", (odd, uid) => ({ ...forge(odd, uid, PINNED_IP), v: 2 })],
    ["is of a version that is a text", (odd, uid) => ({ ...forge(odd, uid, PINNED_IP), v: "1" })],
    ["has a time that is none", (odd, uid) => forge(odd, uid, PINNED_IP, { at: "NaN" })],
    [
      "has a time far away",
      (odd, uid) => forge(odd, uid, "203.0.113.99", { at: "9999-12-31T23:59:59Z", id: undefined }),
    ],
    [
      "names a job that does not exist",
      (_odd, uid) => ({
        v: 1,
        uid,
        job: { id: crypto.randomUUID(), command: "associateIpAddress" },
      }),
    ],
    [
      "names a job of a command that is none",
      (_odd, uid) => ({ v: 1, uid, job: { id: crypto.randomUUID(), command: "__proto__" } }),
    ],
    ["is a list", () => []],
    ["nests deep", () => "[".repeat(10_000) + "]".repeat(10_000)],
    ["nests deep in few characters", () => "[".repeat(500) + "]".repeat(500)],
  ];
  longTest.each(FORGED)("that %s takes nothing away", async (_what, toRecord) => {
    await using odd = new OddStage();
    odd.create(ODD);
    const uid = odd.find(ODD)?.metadata.uid ?? "";
    const record = toRecord(odd, uid);
    const text = typeof record === "string" ? record : JSON.stringify(record);
    odd.change(ODD, { annotations: { [RECORD]: text } });
    await odd.checkBeside();
    await odd.until("it has no address", () => odd.readAddress(ODD) !== undefined);
    odd.checkForeign();
    odd.change(ODD, { annotations: { [RECORD]: text } });
    await odd.stage.clock.advance(10_000);
    odd.checkForeign();
    await odd.remove(ODD);
    odd.checkNothingLeft();
  });
});

describe("a forged record of an unused address of the user", () => {
  /** The server does not say who took it. */
  async function open(): Promise<OddStage> {
    const odd = new OddStage();
    const { user } = odd.stage.cloud;
    const names = LB_COMMANDS.map(({ name }) => name);
    const commands = names.filter((one) => one !== "listUsers" && one !== "listAsyncJobs");
    user.role = { name: "landfall", commands: [...commands, "listVirtualMachines", "listZones"] };
    odd.create(ODD);
    await odd.until("it has no address", () => odd.readAddress(ODD) !== undefined);
    return odd;
  }

  longTest("takes it neither while the Service is there nor when it is deleted", async () => {
    await using odd = await open();
    const uid = odd.find(ODD)?.metadata.uid ?? "";
    odd.change(ODD, {
      annotations: { [RECORD]: JSON.stringify(forge(odd, uid, PINNED_IP)) },
      spec: { sessionAffinity: "ClientIP" },
    });
    await odd.stage.clock.advance(60_000);
    odd.checkForeign();
    odd.change(ODD, { annotations: { [RECORD]: JSON.stringify(forge(odd, uid, PINNED_IP)) } });
    await odd.remove(ODD);
    odd.checkNothingLeft();
    expect(odd.listSaid().filter((one) => one.includes(PINNED_IP))).toEqual([
      `AddressNotOurs: public IP ${PINNED_IP} stays: the record on the Service names it, but is not signed ` +
        "with the keys in use",
    ]);
  });
});

function forge(odd: OddStage, uid: string, ip: string, more: object = {}): object {
  const { cloud, site } = odd.stage;
  const id = [...cloud.state.publicIps.values()].find((one) => one.address === ip)?.id;
  const at = formatTime(odd.stage.clock.now());
  return { v: 1, uid, address: { id, ip, network: site.networkId, at, free: true, ...more } };
}
