/**
 * Judges the samples of a process that ran for a long time: is it as well as at the start?
 * @module
 */
import { toQuantile, toTrend, type Trend } from "../meters/statistics.ts";

/** The figures of one moment. */
export interface Sample {
  /** Hours since the start. */
  readonly hours: number;
  /** MiB. */
  readonly resident: number;
  /** MiB. */
  readonly anonymous: number;
  readonly descriptors: number;
  readonly threads: number;
  /** Processor time so far, in seconds. */
  readonly cpuSeconds: number;
  readonly cloudRequests: number;
  readonly requests: number;
}

/** Everything that is known at the end. */
export interface Outcome {
  readonly samples: readonly Sample[];
  /** The whole log, one JSON record a line. */
  readonly log: string;
  /** Absent: it had to be killed, or had exited before it was asked to. */
  readonly exitCode: number | undefined;
  /** Names of Nodes that were not right after a quiet time. */
  readonly wrong: string;
  /** Idle descriptors, before and after everything: in between, as many as there are connections. */
  readonly descriptors: { readonly before: number; readonly after: number };
}

/** One line of the verdict. */
interface Finding {
  readonly title: string;
  readonly measured: string;
  readonly isFine: boolean;
}

/** Slower growth does not matter, in MiB an hour. */
const SLOPE_MAX = 1;
/** A slope is real when it is this many standard errors above zero. */
const ERRORS = 2;
/** The heap grows until it is collected, which takes minutes: only what is left after that counts. */
const COLLECTED_WITHIN_HOURS = 3 / 60;
/** Of descriptors and threads: one or two requests may be running at one time and not at the other. */
const MORE_MAX = 2;

/** Judges the samples. Growth in the first third counts as warming up. */
export function judge({
  samples,
  log,
  exitCode,
  wrong,
  descriptors: { before, after },
}: Outcome): readonly Finding[] {
  const later = samples.slice(Math.ceil(samples.length / 3));
  const resident = toTrend(toLows(later).map(({ hours, resident }) => [hours, resident]));
  const bad = findBadRecords(log);
  return [
    toSlopeFinding("resident memory at its lowest", resident),
    {
      title: "descriptors at rest, before and after",
      measured: `${before} and ${after}`,
      isFine: after - before <= MORE_MAX,
    },
    toThreadsFinding(later),
    {
      title: "error records and unhandled rejections",
      measured: bad.length === 0 ? "none" : `${bad.length}, first: ${bad[0]}`,
      isFine: bad.length === 0,
    },
    {
      title: "Nodes that are not right at the end",
      measured: wrong === "" ? "none" : wrong,
      isFine: wrong === "",
    },
    {
      title: "exit code after SIGTERM",
      measured: exitCode === undefined ? "none" : `${exitCode}`,
      isFine: exitCode === 0,
    },
  ];
}

/** Of every few minutes the sample with the least memory. */
function toLows(samples: readonly Sample[]): readonly Sample[] {
  const lows = new Map<number, Sample>();
  for (const sample of samples) {
    const window = Math.floor(sample.hours / COLLECTED_WITHIN_HOURS);
    const low = lows.get(window);
    if (low === undefined || sample.resident < low.resident) lows.set(window, sample);
  }
  return [...lows.values()];
}

function toSlopeFinding(what: string, { slope, error }: Trend): Finding {
  // Without a standard error no growth is proven.
  const isReal = slope > ERRORS * error;
  return {
    title: `${what}: slope over the later two thirds`,
    measured: Number.isNaN(error)
      ? "too short to tell"
      : `${slope.toFixed(2)} ± ${error.toFixed(2)} MiB/h`,
    isFine: !isReal || slope < SLOPE_MAX,
  };
}

function toThreadsFinding(later: readonly Sample[]): Finding {
  const half = Math.floor(later.length / 2);
  const threads = later.map((sample) => sample.threads);
  const before = toQuantile(threads.slice(0, half), 0.5);
  const after = toQuantile(threads.slice(half), 0.5);
  return {
    title: "threads: median of the middle and of the last third",
    measured: half === 0 ? "too short to tell" : `${before} and ${after}`,
    isFine: half === 0 || after - before <= MORE_MAX,
  };
}

/** Lines that should not be there; a line that is not JSON was written by the runtime. */
function findBadRecords(log: string): readonly string[] {
  return log.split("\n").filter((line) => {
    if (line === "") return false;
    try {
      const record: unknown = JSON.parse(line);
      const text = JSON.stringify(record);
      return /"level":"error"/.test(text) || /unhandled|uncaught/i.test(text);
    } catch {
      return true;
    }
  });
}
