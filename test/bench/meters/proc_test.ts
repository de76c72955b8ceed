import { expect, test } from "bun:test";
import { parseCpu, parseStatus } from "../../../bench/meters/proc.ts";

test("parseCpu() reads behind a name with blanks and brackets", () => {
  const rest = "S 1 2 3 4 5 6 7 8 9 10 250 50 0 0 20 0 6 0 100";
  expect(parseCpu(`42 (land) fall (x)) ${rest}`)).toBe(3);
});

test("parseStatus() reads MiB and threads, and NaN for what is not there", () => {
  const text = "Name:\tlandfall\nVmHWM:\t  102400 kB\nVmRSS:\t   51200 kB\nThreads:\t6\n";
  expect(parseStatus(text)).toEqual({ resident: 50, anonymous: Number.NaN, peak: 100, threads: 6 });
});
