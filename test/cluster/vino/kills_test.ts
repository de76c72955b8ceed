/**
 * A real process, or xo-server, dies at each call of a hypervisor in the life of a machine. The scenarios of
 * Vinos cut in memory at many more points; this one shows that a process that is killed leaves nothing else behind.
 * @module
 */
import { expect, test } from "bun:test";
import { isOfTurn } from "../../support/extent.ts";
import { PROGRAM } from "../../support/process/landfall_process.ts";
import { type Death, live, liveTogether, type Victim } from "../../support/vino/story/life.ts";

const VICTIMS: readonly Victim[] = ["landfall", "xo-server"];
/** Most of the time they wait. */
const LIVES_AT_ONCE = 20;
const TIMEOUT_MS = 900_000;
const MANY = 20;
/** So many runs of CI together have all deaths. */
const RUNS = 3;

test(
  "whatever dies during a call, a machine is made once, and nothing is left; as of 20 at a time",
  async () => {
    const whole = await live(PROGRAM);
    expect(whole).toMatchObject({
      running: ["worker-0 Running"],
      violations: [],
      waits: false,
      left: [],
    });
    const deaths = VICTIMS.flatMap((victim) =>
      whole.calls.map((_, index): Death => ({ victim, at: index + 1 })),
    ).filter((_death, at) => isOfTurn(at, RUNS));
    const waiting = [...deaths];
    const tellSome = async (): Promise<void> => {
      for (let death = waiting.shift(); death !== undefined; death = waiting.shift()) {
        const where = `${death.victim} dies at ${death.at} ${whole.calls[death.at - 1]}`;
        const { calls: _calls, waits, ...end } = await live(PROGRAM, death);
        // Only what xo-server did not finish can come late.
        if (waits) expect({ where, victim: death.victim }).toEqual({ where, victim: "xo-server" });
        const { running } = whole;
        expect({ where, ...end }).toEqual({ where, running, violations: [], left: [] });
      }
    };
    const many = async (): Promise<void> => {
      const { calls, running, ...end } = await liveTogether(PROGRAM, MANY);
      const uploads = calls.filter((method) => method === "VDI.import").length;
      const made = { uploads, running: running.length, ...end };
      const once = { uploads: MANY, running: MANY };
      expect(made).toEqual({ ...once, violations: [], waits: false, left: [] });
    };
    const lives = [many, ...Array.from({ length: LIVES_AT_ONCE }, () => tellSome)];
    const told = await Promise.allSettled(lives.map((one) => one()));
    // Only now no process of a life is left.
    const failed = told.find((one) => one.status === "rejected");
    if (failed !== undefined) throw failed.reason;
    console.info(`kills in the life of a machine: ${deaths.length}`);
  },
  TIMEOUT_MS,
);
