import { expect, test } from "bun:test";
import { ManualClock } from "../support/manual_clock.ts";
import { Trace } from "./trace.ts";

test("Trace.note() leaves out what another run would draw again", () => {
  const trace = new Trace(new ManualClock());
  trace.note("b3", "ends: a4_16b186c6-fff2-40d7-ade9-a48af95b44ff holds it");
  expect(trace.lines.join()).toEndWith("b3     ends: a4 holds it");
});
