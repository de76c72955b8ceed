import { expect, test } from "bun:test";
import { judge, type Outcome, type Sample } from "../../../bench/soak/verdict.ts";
import { Random } from "../../support/random.ts";

/** Half an hour, every ten seconds. @param change What differs from a process that is well, by hours */
function toSamples(change: (hours: number) => Partial<Sample> = () => ({})): Sample[] {
  const random = new Random(7).next;
  return Array.from({ length: 180 }, (_, at) => {
    const hours = at / 360;
    return {
      hours,
      resident: 60 + random(),
      anonymous: 20,
      descriptors: 30,
      threads: 6,
      cpuSeconds: at,
      cloudRequests: at,
      requests: at,
      ...change(hours),
    };
  });
}

const WELL: Outcome = {
  samples: toSamples(),
  log: '{"level":"info"}\n',
  exitCode: 0,
  wrong: "",
  descriptors: { before: 18, after: 20 },
};

function listBad(outcome: Partial<Outcome>): string[] {
  return judge({ ...WELL, ...outcome })
    .filter(({ isFine }) => !isFine)
    .map(({ title, measured }) => `${title}: ${measured}`);
}

test("judge() finds nothing in a process that is well", () => {
  expect(listBad({})).toEqual([]);
});

test("judge() finds memory that grows by 10 MiB an hour under noise", () => {
  const samples = toSamples().map((one) => ({ ...one, resident: one.resident + one.hours * 10 }));
  expect(listBad({ samples })).toEqual([
    expect.stringContaining("resident memory at its lowest: slope"),
  ]);
});

test("judge() does not mind garbage that is collected every few minutes, wherever the run ends", () => {
  for (const endMinutes of [26, 27, 28, 29, 30]) {
    const samples = toSamples((hours) => ({ resident: 60 + ((hours * 60) % 2.5) * 4 }));
    expect(listBad({ samples: samples.filter(({ hours }) => hours * 60 < endMinutes) })).toEqual(
      [],
    );
  }
});

test("judge() does not tell the slope of a minute", () => {
  const samples = toSamples((hours) => ({ resident: 40 + hours * 500 })).slice(0, 7);
  const [memory] = judge({ ...WELL, samples });
  expect(memory).toMatchObject({ measured: "too short to tell", isFine: true });
});

test("judge() does not report threads after a few seconds", () => {
  const [, , threads] = judge({ ...WELL, samples: toSamples().slice(0, 2) });
  expect(threads).toMatchObject({ measured: "too short to tell", isFine: true });
});

test("judge() lets memory grow while it warms up", () => {
  const samples = toSamples((hours) => (hours < 1 / 6 ? { resident: 40 + hours * 100 } : {}));
  expect(listBad({ samples })).toEqual([]);
});

test("judge() finds descriptors and threads that become more", () => {
  const samples = toSamples((hours) => ({ threads: hours > 0.4 ? 12 : 6 }));
  expect(listBad({ samples, descriptors: { before: 18, after: 21 } })).toEqual([
    "descriptors at rest, before and after: 18 and 21",
    "threads: median of the middle and of the last third: 6 and 12",
  ]);
});

test("judge() takes descriptors that nobody could count for bad", () => {
  expect(listBad({ descriptors: { before: 18, after: Number.NaN } })).toEqual([
    "descriptors at rest, before and after: 18 and NaN",
  ]);
});

const LOGS: readonly (readonly [string, string])[] = [
  ["an error record", '{"level":"error","message":"Cannot"}'],
  ["an unhandled rejection", '{"level":"warn","message":"Unhandled rejection"}'],
  ["what the runtime wrote", "TypeError: undefined is not an object"],
];
for (const [what, line] of LOGS) {
  test(`judge() finds ${what} in the log`, () => {
    expect(listBad({ log: `{"level":"info"}\n${line}\n` })).toEqual([
      `error records and unhandled rejections: 1, first: ${line}`,
    ]);
  });
}

test("judge() finds wrong Nodes, and an end that was no clean one", () => {
  expect(listBad({ wrong: "fleet-00001", exitCode: undefined })).toEqual([
    "Nodes that are not right at the end: fleet-00001",
    "exit code after SIGTERM: none",
  ]);
  expect(listBad({ exitCode: 1 })).toEqual(["exit code after SIGTERM: 1"]);
});
