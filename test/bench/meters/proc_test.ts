import { expect, test } from "bun:test";
import { parseCode, parseCpu, parseStatus } from "../../../bench/meters/proc.ts";

test("parseCpu() reads behind a name with blanks and brackets", () => {
  const rest = "S 1 2 3 4 5 6 7 8 9 10 250 50 0 0 20 0 6 0 100";
  expect(parseCpu(`42 (land) fall (x)) ${rest}`)).toBe(3);
});

test("parseStatus() reads MiB and threads, and NaN for what is not there", () => {
  const text = "Name:\tlandfall\nVmHWM:\t  102400 kB\nVmRSS:\t   51200 kB\nThreads:\t6\n";
  expect(parseStatus(text)).toEqual({ resident: 50, anonymous: Number.NaN, peak: 100, threads: 6 });
});

test("parseCode() counts files that cannot be written, and neither own code nor anonymous memory", () => {
  const text = `00200000-01a39000 r--p 00000000 fe:00 247026   /usr/bin/landfall
Size:              25000 kB
Rss:                6144 kB
01a40000-0684a000 r-xp 01838000 fe:00 247026   /usr/bin/landfall
Rss:               26624 kB
06867000-079af000 rw-p 0665e000 fe:00 247026   /usr/bin/landfall
Rss:                2890 kB
7f28dfe92000-7f28dfeca000 rw-p 00000000 00:00 0
Rss:               13000 kB
7f28e0244000-7f28e039a000 r-xp 00026000 fe:00 1234   /usr/lib/libc.so.6
Rss:                1024 kB
7ffd1a5f2000-7ffd1a5f4000 r-xp 00000000 00:00 0   [vdso]
Rss:                   4 kB
VmFlags: rd ex mr mw me de
`;
  expect(parseCode(text)).toBe(33);
});
