/**
 * A restart of the server cuts off the job that takes an address: the address stays between free and taken.
 * @module
 */
import { expect, test } from "bun:test";
import { free } from "../../../lib/simulator/cloudstack/world/addresses.ts";
import { OddStage } from "./stage.ts";

/** Longer than CloudStack may carry out the request, and the longest pause after that. */
const LATER_MS = 800_000;
const RETRY_MS = 70_000;

test("the Service waits, says from when on to release the address, and goes on after that", async () => {
  await using odd = new OddStage();
  const { clock, cloud } = odd.stage;
  cloud.faults.set({ kind: "cutOffJob" }, { command: "associateIpAddress", times: 1 });
  odd.create("odd");
  await clock.advance(LATER_MS);
  const [ip, ...others] = [...cloud.state.publicIps.values()].filter(
    ({ state }) => state === "Allocating",
  );
  if (ip === undefined) throw new Error("No address is being taken");
  expect(others).toEqual([]);
  expect(odd.readAddress("odd")).toBeUndefined();
  const said = odd.listSaid().find((one) => one.startsWith("AddressNotUsable")) ?? "";
  expect(said).toContain(`public IP ${ip.address} is being taken for this Service`);
  const [, untilText = ""] = /after (\S+Z),/.exec(said) ?? [];
  expect(Date.parse(untilText)).toBeLessThan(clock.now());
  expect(said).toContain(`cmk disassociate ipaddress id=${ip.id}`);
  free(cloud.state, ip);
  await clock.advance(RETRY_MS);
  expect(odd.readAddress("odd")).toBeDefined();
});
