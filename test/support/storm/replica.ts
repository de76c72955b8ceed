/**
 * A replica that is started again whenever it ends, as a kubelet does; every end and every record must have its reason.
 * @module
 */
import { readHoldings } from "../../../bench/meters/proc.ts";
import {
  type Ended,
  type LandfallProcess,
  type LogRecord,
  parseRecord,
  type Program,
  startLandfall,
} from "../process/landfall_process.ts";

/** How long after its end it is started again. */
const RESTART_MS = 500;
/** As long as an orderly stop may take while nobody answers, and what a busy machine adds. */
const STOP_MS_MAX = 8_000;

/** Errors that are told of what a storm does; any other is a finding. */
const EXPECTED_ERRORS: ReadonlySet<string> = new Set([
  "leaderelection lost",
  // All of these machines are gone indeed.
  "Too many machines are gone at once; Landfall deletes no Node until fewer are gone or you decide",
]);

/** What is no record: nothing, and what a person reads last. */
const LAST_WORDS = /^(landfall: leaderelection lost: .*)?$/;

/** What a process takes of its host. */
export interface Footprint {
  readonly descriptors: number;
  readonly residentMib: number;
}

/** What of it was asked for, and has to be told from what it does by itself. */
type Wish = "kill" | "end" | "nothing";

/** A replica. */
export class Replica {
  readonly name: string;
  readonly username: string;
  /** What should never happen, of processes that have ended. */
  readonly #findings: string[] = [];
  /** What those said. */
  readonly #told: LogRecord[] = [];
  readonly #program: Program;
  readonly #args: readonly string[];
  #process: LandfallProcess | undefined;
  #wish: Wish = "nothing";
  #restartMs = RESTART_MS;
  #isOver = false;
  #running: Promise<void> = Promise.resolve();

  constructor(options: {
    readonly name: string;
    readonly username: string;
    readonly program: Program;
    readonly args: readonly string[];
  }) {
    this.name = options.name;
    this.username = options.username;
    this.#program = options.program;
    this.#args = options.args;
  }

  /** What should never happen and did. */
  get findings(): readonly string[] {
    return [
      ...this.#findings,
      ...this.listRecords()
        .filter(isFinding)
        .map((record) => `${this.name} told an error: ${JSON.stringify(record)}`),
    ];
  }

  /** All that it said, whichever of its processes. */
  listRecords(): readonly LogRecord[] {
    return [...this.#told, ...this.#records()];
  }

  /** Starts it; from now on it runs until {@linkcode stop}. */
  start(): void {
    this.#running = this.#keep();
  }

  /** Ends it, by SIGKILL or SIGTERM; it is back after so long. Resolves when it has ended. */
  async end(how: "kill" | "end", forMs: number): Promise<void> {
    const ending = this.#process;
    if (ending === undefined) return;
    this.#wish = how;
    this.#restartMs = forMs;
    const fromMs = performance.now();
    ending.signal(how === "kill" ? "SIGKILL" : "SIGTERM");
    await ending.ended;
    const tookMs = Math.round(performance.now() - fromMs);
    if (tookMs > STOP_MS_MAX) this.#findings.push(`${this.name} took ${tookMs} ms to end (${how})`);
  }

  /** Freezes or thaws it. */
  signal(name: "SIGSTOP" | "SIGCONT"): void {
    this.#process?.signal(name);
  }

  /** Whether the process that runs now leads, since when in milliseconds since the epoch. */
  get leadsSinceMs(): number | undefined {
    const record = this.#records().find(isLeading);
    return record && toMs(record);
  }

  /** The values of a metric, by its labels as they are written. */
  async readMetric(name: string): Promise<ReadonlyMap<string, number>> {
    const listening = this.#records().find(({ message }) => message === "Listening");
    const response = await fetch(`http://${String(listening?.["address"])}/metrics`);
    const lines = (await response.text()).split("\n").filter((line) => line.startsWith(name));
    return new Map(
      lines.map((line) => {
        const end = line.lastIndexOf(" ");
        return [line.slice(name.length, end), Number(line.slice(end + 1))];
      }),
    );
  }

  /** What the process that runs now takes. */
  async readFootprint(): Promise<Footprint> {
    const { descriptors, resident } = await readHoldings(this.#process?.pid ?? process.pid);
    return { descriptors, residentMib: resident };
  }

  /** The end of what the process that runs now said. */
  get tail(): string {
    return `${this.name}:\n${this.#process?.log.split("\n").slice(-40).join("\n") ?? ""}`;
  }

  /** Ends it for good. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await this.end("end", 0);
    await this.#running;
  }

  async #keep(): Promise<void> {
    while (!this.#isOver) {
      this.#wish = "nothing";
      this.#restartMs = RESTART_MS;
      const landfall = startLandfall(this.#program, this.#args);
      this.#process = landfall;
      const ended = await landfall.ended;
      this.#process = undefined;
      this.#judge(ended);
      if (!this.#isOver) await Bun.sleep(this.#restartMs);
    }
  }

  #judge({ code, stderr, stdout }: Ended): void {
    const lines = stderr.split("\n");
    // What was killed may have been about to say something.
    const whole = code === null ? lines.slice(0, -1) : lines;
    const records = whole.map((line) => parseRecord(line));
    const hasLost = records.some((record) => record?.["message"] === "leaderelection lost");
    const byItself = hasLost ? [1] : [];
    const allowed = { kill: [null, ...byItself], end: [0, ...byItself], nothing: byItself };
    if (!allowed[this.#wish].some((one) => one === code)) {
      const end = lines.slice(-30).join("\n");
      this.#findings.push(`${this.name} ended with ${code}, asked for: ${this.#wish}\n${end}`);
    }
    if (stdout !== "") this.#findings.push(`${this.name} said on standard output: ${stdout}`);
    for (const [at, record] of records.entries()) {
      if (record !== undefined) this.#told.push(record);
      else if (!LAST_WORDS.test(whole[at] ?? ""))
        this.#findings.push(`${this.name} said: ${whole[at]}`);
    }
  }

  #records(): LogRecord[] {
    const lines = this.#process?.log.split("\n") ?? [];
    return lines.map((line) => parseRecord(line)).filter((record) => record !== undefined);
  }
}

function isFinding({ level, message }: LogRecord): boolean {
  const isBad = level === "error" || level === "fatal";
  return isBad && !EXPECTED_ERRORS.has(String(message));
}

function isLeading({ message }: LogRecord): boolean {
  return message === "Became leader";
}

function toMs({ time }: LogRecord): number {
  return Date.parse(String(time));
}
