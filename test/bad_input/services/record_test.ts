/**
 * Records of load balancers that somebody else wrote: they prove nothing.
 * @module
 */
import { describe, test } from "bun:test";
import { PINNED_IP, USED_IP } from "../../crashes/site.ts";
import { OddStage } from "./stage.ts";

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
  test.each(FORGED)("that %s takes nothing away", async (_what, toRecord) => {
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

function forge(odd: OddStage, uid: string, ip: string, more: object = {}): object {
  const { cloud, site } = odd.stage;
  const id = [...cloud.state.publicIps.values()].find((one) => one.address === ip)?.id;
  const at = `${new Date(odd.stage.clock.now()).toISOString().slice(0, 19)}Z`;
  return { v: 1, uid, address: { id, ip, network: site.networkId, at, free: true, ...more } };
}
