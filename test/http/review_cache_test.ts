import { describe, expect, test } from "bun:test";
import { ReviewCache, TooManyQuestions } from "../../lib/http/review_cache.ts";
import { RateBudget } from "../../lib/core/concurrency.ts";
import { ManualClock, settle } from "../support/manual_clock.ts";

class Rig {
  readonly clock: ManualClock = new ManualClock();
  readonly stop: AbortController = new AbortController();
  readonly cache: ReviewCache<string>;
  asked = 0;

  constructor() {
    const budget = new RateBudget(this.clock, { max: 20, perSecond: 2 });
    this.cache = new ReviewCache(this.clock, budget, this.stop.signal);
  }

  /** Asks, and is answered with this. */
  async ask(key: string, answer?: string | Promise<string | undefined>): Promise<string> {
    try {
      const verdict = await this.cache.ask(key, () => {
        this.asked += 1;
        return Promise.resolve(answer);
      });
      return verdict.kind === "granted" ? verdict.value : "refused";
    } catch (error) {
      return error instanceof Error ? error.name : String(error);
    }
  }
}

describe("ReviewCache.ask()", () => {
  test.each([["yes"], [undefined]])(
    "ReviewCache.ask() remembers the answer %p for ten seconds",
    async (answer) => {
      const rig = new Rig();
      const expected = answer ?? "refused";
      expect(await rig.ask("a", answer)).toBe(expected);
      await rig.clock.advance(9_999);
      expect([await rig.ask("a", "other"), rig.asked]).toEqual([expected, 1]);
      await rig.clock.advance(1);
      expect([await rig.ask("a", "other"), rig.asked]).toEqual(["other", 2]);
    },
  );

  test("ReviewCache.ask() takes a right away as soon as it is refused", async () => {
    const rig = new Rig();
    await rig.ask("a", "yes");
    await rig.clock.advance(10_000);
    expect([await rig.ask("a"), await rig.ask("a")]).toEqual(["refused", "refused"]);
    expect(rig.asked).toBe(2);
  });

  test("ReviewCache.ask() sends one question for all who ask the same at once", async () => {
    const rig = new Rig();
    const gate = Promise.withResolvers<string>();
    const all = Promise.all([rig.ask("a", gate.promise), rig.ask("a"), rig.ask("a")]);
    gate.resolve("yes");
    expect([await all, rig.asked]).toEqual([["yes", "yes", "yes"], 1]);
  });

  test("ReviewCache.ask() leaves no timer once it was answered", async () => {
    const rig = new Rig();
    await rig.ask("a", "yes");
    await rig.ask("b", Promise.reject(new RangeError("away")));
    expect(rig.clock.pending).toBe(0);
  });

  test("ReviewCache.ask() does not remember a failure", async () => {
    const rig = new Rig();
    expect(await rig.ask("a", Promise.reject(new RangeError("away")))).toBe("RangeError");
    expect(await rig.ask("a", "yes")).toBe("yes");
  });

  test("ReviewCache.ask() gives up after five seconds, heeded or not", async () => {
    const rig = new Rig();
    const late = rig.ask("a", new Promise<string>(() => {}));
    await rig.clock.advance(4_999);
    expect(rig.asked).toBe(1);
    await rig.clock.advance(1);
    expect(await late).toBe("TimeoutError");
    expect(await rig.ask("a", "yes")).toBe("yes");
  });

  test("ReviewCache.ask() ends with the process", async () => {
    const rig = new Rig();
    const asked = rig.ask("a", new Promise<string>(() => {}));
    rig.stop.abort(new Error("stopped"));
    expect(await asked).toBe("Error");
    expect(await rig.ask("b", new Promise<string>(() => {}))).toBe("Error");
  });

  test("ReviewCache.ask() asks nothing new after 20 refusals, but two a second", async () => {
    const rig = new Rig();
    const flood = async (count: number, from: number): Promise<number> => {
      const before = rig.asked;
      for (let at = 0; at < count; at += 1) await rig.ask(`token-${from + at}`);
      return rig.asked - before;
    };
    expect(await flood(1_000, 0)).toBe(20);
    expect(await rig.ask("new", "yes")).toBe(TooManyQuestions.name);
    await rig.clock.advance(3_000);
    expect(await flood(1_000, 1_000)).toBe(6);
    await rig.clock.advance(3_600_000);
    expect(await flood(1_000, 2_000)).toBe(20);
  });

  test("ReviewCache.ask() goes on asking about who was let in before, flood or not", async () => {
    const rig = new Rig();
    await rig.ask("known", "yes");
    for (let at = 0; at < 100; at += 1) await rig.ask(`token-${at}`);
    await rig.clock.advance(10_000);
    for (let at = 100; at < 300; at += 1) await rig.ask(`token-${at}`);
    expect(await rig.ask("known", "still")).toBe("still");
  });

  test("ReviewCache.ask() takes who was let in before and then refused for anybody", async () => {
    const rig = new Rig();
    await rig.ask("known", "yes");
    await rig.clock.advance(10_000);
    expect(await rig.ask("known")).toBe("refused");
    await rig.clock.advance(10_000);
    for (let at = 0; at < 100; at += 1) await rig.ask(`token-${at}`);
    expect(await rig.ask("known", "yes")).toBe(TooManyQuestions.name);
  });

  test("ReviewCache.ask() has at most eight questions under way", async () => {
    const rig = new Rig();
    const gate = Promise.withResolvers<string>();
    const names = Array.from({ length: 9 }, (_, at) => `${at}`);
    const answers = names.map((name) => rig.ask(name, gate.promise));
    await settle();
    gate.resolve("yes");
    expect(await Promise.all(answers)).toEqual([
      ...Array.from({ length: 8 }, () => "yes"),
      TooManyQuestions.name,
    ]);
  });

  test("ReviewCache.ask() forgets the oldest of more than 256 grants", async () => {
    const rig = new Rig();
    for (let at = 0; at < 257; at += 1) await rig.ask(`${at}`, "yes");
    await rig.ask("256", "again");
    await rig.ask("1", "again");
    expect(rig.asked).toBe(257);
    expect(await rig.ask("0", "again")).toBe("again");
  });
});
