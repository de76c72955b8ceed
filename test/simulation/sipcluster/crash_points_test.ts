import { expect, test } from "bun:test";
import { readExtent } from "../../support/extent.ts";
import { type Moment, tellWithCrash } from "./crash_points.ts";

/** All of them take a minute on a busy machine. */
const TIMEOUT_MS = 300_000;
/** One of so many writes is tried. */
const STRIDE = { some: 29, all: 1 } as const;

test.each<[Moment]>([["before"], ["after"]])(
  "from a crash right %s any write the end is the same",
  async (moment) => {
    const undisturbed = await tellWithCrash();
    expect(undisturbed.problems).toEqual([]);
    expect(undisturbed.writes).toBeGreaterThan(30);
    for (let write = 1; write <= undisturbed.writes; write += STRIDE[readExtent()]) {
      const { end, problems } = await tellWithCrash({ write, moment });
      expect({ write, problems }).toEqual({ write, problems: [] });
      expect(`${write}\n${end}`).toBe(`${write}\n${undisturbed.end}`);
    }
  },
  TIMEOUT_MS,
);
