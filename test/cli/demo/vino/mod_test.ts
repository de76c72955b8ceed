import { expect, test } from "bun:test";
import { demo } from "../../../../lib/cli/demo/mod.ts";
import { VINO_STEPS } from "../../../../lib/cli/demo/vino/story.ts";
import { PacedClock } from "../../../support/paced_clock.ts";

test("demo() of Vinos tells every step, and ends with 0", async () => {
  let out = "";
  const code = await demo(["vino", "--once", "--debug-address=127.0.0.1:0"], {
    env: {},
    clock: new PacedClock(4),
    print: (text) => (out += text),
    complain: (text) => (out += text),
  });
  expect(out).toContain("Every step succeeded.");
  expect(code).toBe(0);
  expect(out.match(/^ {5}OK$/gm)).toHaveLength(VINO_STEPS.length);
  expect(out).toMatch(/xo-server restarts while it makes [3-6] VMs/);
  expect(out).toContain("edge-worker-0: 192.0.2.13, on xcp-par-1");
  expect(out).toMatch(/kubectl annotate vino edge --namespace=metal3 .*confirm-removal=\d/);
  expect(out).toMatch(/kept: .*belongs to SIPCluster "blue"/);
  expect(out).toMatch(/^ {5}xcp-par-1 {3}C W$/m);
  expect(out).toMatch(/http:\/\/127\.0\.0\.1:\d+\/debug\/vinos/);
}, 120_000);
