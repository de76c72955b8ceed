/**
 * Never two leaders, whatever clocks, networks and processes do.
 * @module
 */
import { describe, expect } from "bun:test";
import fc from "fast-check";
import { tries } from "../../support/extent.ts";
import { Random } from "../../support/random.ts";
import { MemoryApiServer, Replica, type Trip } from "../../support/kube/election/rig.ts";
import { ManualClock, settle } from "../../support/manual_clock.ts";
import { longTest } from "../../support/long_tests.ts";

const RUNS = tries(40);
const STEP_MS = 250;
const STORY_MS = 120_000;
/** Clocks of machines differ by far less; the margin of a leader is made for more. */
const DRIFT_MAX = 0.05;

/** What happens at a moment of the story. */
type Happening =
  | { readonly kind: "pause"; readonly who: number; readonly ms: number }
  | { readonly kind: "stop"; readonly who: number }
  | { readonly kind: "kill"; readonly who: number }
  | { readonly kind: "cut"; readonly who: number; readonly ms: number }
  | { readonly kind: "storm"; readonly status: number; readonly ms: number };

interface Moment {
  readonly atMs: number;
  readonly happening: Happening;
}

const who = fc.nat(2);
const ms = fc.integer({ min: 100, max: 30_000 });
const happening: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("pause" as const), who, ms }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("stop" as const), who }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("kill" as const), who }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("cut" as const), who, ms }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("storm" as const),
      status: fc.constantFrom(409, 429, 500, 503),
      ms,
    }),
  },
);
const story = fc.array(fc.record({ atMs: fc.integer({ min: 0, max: STORY_MS }), happening }), {
  minLength: 4,
  maxLength: 24,
});
const rates = fc.tuple(...[0, 1, 2].map(() => fc.double({ min: -1, max: 1, noNaN: true })));

/** Three places for processes; each that ends is followed by a new one, as a supervisor would do. */
class World {
  readonly clock: ManualClock = new ManualClock(Date.UTC(2026, 0, 1), () => settle(2));
  readonly server: MemoryApiServer = new MemoryApiServer(this.clock);
  readonly problems: string[] = [];
  leaderships = 0;
  readonly #random: () => number;
  readonly #rates: readonly number[];
  readonly #places: Replica[] = [];
  readonly #ghosts: Replica[] = [];
  /** Until when, in monotonic milliseconds. */
  readonly #paused: number[] = [0, 0, 0];
  readonly #cut: number[] = [0, 0, 0];
  #stormEndMs = 0;
  #endStorm: (() => void) | undefined;
  #born = 0;

  constructor(seed: number, rates: readonly number[]) {
    this.#random = new Random(seed).next;
    this.#rates = rates;
    this.server.onHolder = (holder) => this.#checkGrant(holder);
    for (let place = 0; place < 3; place += 1) this.#places.push(this.#bear(place));
  }

  apply({ kind, ...rest }: Happening): void {
    const nowMs = this.clock.monotonic();
    const place = "who" in rest ? rest.who : 0;
    const endMs = nowMs + ("ms" in rest ? rest.ms : 0);
    const replica = this.#places[place];
    if (replica === undefined) return;
    if (kind === "pause") {
      this.#paused[place] = endMs;
      replica.pause();
    } else if (kind === "stop") replica.stop();
    else if (kind === "cut") this.#cut[place] = endMs;
    else if (kind === "kill") this.#kill(place);
    else if (kind === "storm" && "status" in rest) {
      this.#endStorm?.();
      this.#endStorm = this.server.faults.refuse({ status: rest.status });
      this.#stormEndMs = endMs;
    }
  }

  /** What is over ends, and who ended starts anew. */
  tidy(): void {
    const nowMs = this.clock.monotonic();
    if (this.#stormEndMs <= nowMs) this.#endStorm?.();
    this.#places.forEach((replica, place) => {
      if ((this.#paused[place] ?? 0) <= nowMs) replica.resume();
      if (replica.end !== undefined) this.#places[place] = this.#bear(place);
    });
  }

  check(): void {
    const leaders = this.#awake().filter(({ elector }) => elector.isHeld());
    if (leaders.length > 1)
      this.problems.push(`${leaders.map(({ name }) => name).join(" and ")} lead`);
  }

  /** When the API server gives the Lease to somebody, nobody else may believe to lead, at that very moment. */
  #checkGrant(holder: string): void {
    if (holder !== "") this.leaderships += 1;
    for (const { name, elector } of this.#awake()) {
      if (name !== holder && elector.isHeld()) {
        this.problems.push(`${name} leads when "${holder}" gets the Lease`);
      }
    }
  }

  #awake(): Replica[] {
    return this.#places.filter(({ isPaused }) => !isPaused);
  }

  /** It never runs again; what it sent arrives. */
  #kill(place: number): void {
    const replica = this.#places[place];
    if (replica === undefined) return;
    replica.pause();
    this.#ghosts.push(replica);
    this.#paused[place] = 0;
    this.#places[place] = this.#bear(place);
  }

  #bear(place: number): Replica {
    this.#born += 1;
    const replica = new Replica(this.server, {
      name: `r${place}-${this.#born}`,
      rate: 1 + DRIFT_MAX * (this.#rates[place] ?? 0),
      skewMs: (this.#random() - 0.5) * 86_400_000,
      random: this.#random,
    });
    replica.trip = () => this.#toTrip(place);
    replica.start();
    return replica;
  }

  #toTrip(place: number): Trip {
    const isCut = (this.#cut[place] ?? 0) > this.clock.monotonic();
    const isSlow = this.#random() < 0.15;
    const max = isSlow ? 8_000 : 100;
    const lot = this.#random();
    return {
      thereMs: this.#random() * max,
      backMs: this.#random() * max,
      ...(isCut || lot < 0.02 ? { lost: "there" } : lot < 0.06 ? { lost: "back" } : {}),
    };
  }
}

describe("LeaderElector", () => {
  longTest(
    "is never held by two at once under pauses, drift, delays, losses and outages",
    async () => {
      let leaderships = 0;
      await fc.assert(
        fc.asyncProperty(fc.integer(), rates, story, async (seed, drift, moments) => {
          const world = new World(seed, drift);
          const due = moments.toSorted((a: Moment, b: Moment) => a.atMs - b.atMs);
          for (let atMs = 0; atMs < STORY_MS; atMs += STEP_MS) {
            while ((due[0]?.atMs ?? Infinity) <= atMs) {
              const next = due.shift();
              if (next) world.apply(next.happening);
            }
            await world.clock.advance(STEP_MS);
            world.check();
            world.tidy();
          }
          leaderships += world.leaderships;
          expect(world.problems).toEqual([]);
        }),
        RUNS,
      );
      // A story in which nobody leads proves nothing.
      expect(leaderships).toBeGreaterThan(RUNS.numRuns);
    },
    60_000,
  );
});
