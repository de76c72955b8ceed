import { expect, test } from "bun:test";
import { demo } from "../../../../lib/cli/demo/mod.ts";
import { PacedClock } from "../../../support/paced_clock.ts";

test("demo() of SIPClusters tells every step, and ends with 0", async () => {
  let out = "";
  const code = await demo(["sipcluster", "--once", "--debug-address=127.0.0.1:0"], {
    env: {},
    clock: new PacedClock(4),
    print: (text) => (out += text),
    complain: (text) => (out += text),
  });
  expect(out).toContain("Every step succeeded.");
  expect(code).toBe(0);
  expect(out.match(/^ {5}OK$/gm)).toHaveLength(8);
  expect(out).toContain("red: Worker: want 9, have 0, eligible 8");
  expect(out).toMatch(/blue: Not wanted any more, .*metal3\/r\d-worker-\d/);
  expect(out).toMatch(/^ {5}r1 {3}control-plane B /m);
  expect(out).toMatch(/http:\/\/127\.0\.0\.1:\d+\/debug\/sipclusters/);
}, 60_000);
