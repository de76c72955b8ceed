import { expect } from "bun:test";
import { demo } from "../../../lib/cli/demo/mod.ts";
import { VINO_STEPS } from "../../../lib/cli/demo/vino/story.ts";
import { PacedClock } from "../../support/paced_clock.ts";
import { longTest } from "../../support/long_tests.ts";

longTest.each<[story: string, steps: number, told: readonly RegExp[]]>([
  [
    "sipcluster",
    8,
    [
      /tenants\/red: Worker: want 9, have 0, eligible 8/,
      /tenants\/blue: Not wanted any more, .*metal3\/r\d-worker-\d/,
      /^ {5}r1 {3}control-plane B /m,
      /http:\/\/127\.0\.0\.1:\d+\/debug\/sipclusters/,
    ],
  ],
  [
    "vino",
    VINO_STEPS.length,
    [
      /xo-server restarts while it makes [3-6] VMs/,
      /edge-worker-0: 192\.0\.2\.13, on xcp-par-1/,
      /kubectl annotate vino edge --namespace=metal3 .*confirm-removal=\d/,
      /kept: .*belongs to SIPCluster "blue"/,
      /^ {5}xcp-par-1 {3}C W$/m,
      /http:\/\/127\.0\.0\.1:\d+\/debug\/vinos/,
    ],
  ],
])(
  "demo() of %s tells every step, and ends with 0",
  async (story, steps, told) => {
    let out = "";
    const print = (text: string): void => void (out += text);
    const argv = [story, "--once", "--debug-address=127.0.0.1:0"];
    const code = await demo(argv, { env: {}, clock: new PacedClock(4), print, complain: print });
    expect(out).not.toMatch(/ -w\b.*\n {2}(?:kubectl|landfall) /);
    expect(out).toContain("Every step succeeded.");
    expect(code).toBe(0);
    expect(out.match(/^ {5}OK$/gm)).toHaveLength(steps);
    for (const text of told) expect(out).toMatch(text);
  },
  120_000,
);
