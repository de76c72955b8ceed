import { beforeEach, describe, expect, test } from "bun:test";
import { Generations } from "../../lib/cloud_http/generations.ts";

const { signal } = new AbortController();

/** What is asked: its name, and when it is left. */
interface Thing {
  readonly name: string;
  readonly left: AbortSignal;
}

let things: Generations<Thing>;
beforeEach(() => {
  things = new Generations((left) => ({ name: "one", left }));
});

function replace(name: string, isLeft: boolean): void {
  things.replace((left) => ({ name, left }), isLeft);
}

/** Work that holds until it is told to end, and rejects when its signal aborts. */
function createHeld(): {
  readonly asked: string[];
  readonly end: () => void;
  readonly work: (thing: Thing, signal: AbortSignal) => Promise<string>;
} {
  const held = Promise.withResolvers<void>();
  const asked: string[] = [];
  return {
    asked,
    end: held.resolve,
    async work({ name }, signal) {
      asked.push(name);
      if (asked.length > 1) return name;
      await new Promise<void>((resolve, reject) => {
        void held.promise.then(resolve);
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      });
      return name;
    },
  };
}

describe("replace()", () => {
  test("leaves the old thing only when the next one asks elsewhere", () => {
    const first = things.now.left;
    replace("two", false);
    expect([things.now.name, first.aborted, things.now.left === first]).toEqual([
      "two",
      false,
      true,
    ]);
    replace("three", true);
    expect([things.now.name, first.aborted, things.now.left.aborted]).toEqual([
      "three",
      true,
      false,
    ]);
  });

  test("keeps the old thing when the next one cannot be made", () => {
    const broken = (): never => {
      throw new Error("broken");
    };
    expect(() => things.replace(broken, true)).toThrow("broken");
    expect([things.now.name, things.now.left.aborted]).toEqual(["one", false]);
  });
});

describe("ask()", () => {
  test("gives the answer of the thing in use, and who gave it", async () => {
    const { answer, by } = await things.ask(({ name }) => Promise.resolve(name), signal);
    expect([answer, by.name]).toEqual(["one", "one"]);
  });

  test("asks the next one at once when the thing is left", async () => {
    const { work, asked } = createHeld();
    const answer = things.ask(work, signal);
    replace("two", true);
    expect(await answer).toMatchObject({ answer: "two", by: { name: "two" } });
    expect(asked).toEqual(["one", "two"]);
  });

  test("lets the old question end when the next one asks the same, and throws its answer away", async () => {
    const { work, asked, end } = createHeld();
    const answer = things.ask(work, signal);
    replace("two", false);
    await Bun.sleep(0);
    expect(asked).toEqual(["one"]);
    end();
    expect(await answer).toMatchObject({ answer: "two" });
    expect(asked).toEqual(["one", "two"]);
  });

  test("fails for the thing in use, and when its signal aborts", async () => {
    const failed = things.ask(() => Promise.reject(new Error("failed")), signal);
    await expect(failed).rejects.toThrow("failed");
    const stop = new AbortController();
    const { work } = createHeld();
    const stopped = things.ask(work, stop.signal);
    replace("two", false);
    stop.abort(new Error("stop"));
    await expect(stopped).rejects.toThrow("stop");
  });
});

describe("askOnce()", () => {
  const askOnce = (): Promise<string | undefined> =>
    things.askOnce(({ name }) => Promise.resolve(name), signal);

  test("has no answer from a replacement until ask() had one", async () => {
    expect(await askOnce()).toBe("one");
    replace("two", false);
    expect(await askOnce()).toBeUndefined();
    await things.ask(() => Promise.reject(new Error("failed")), signal).catch(() => {});
    expect(await askOnce()).toBeUndefined();
    await things.ask(() => Promise.resolve(), signal);
    expect(await askOnce()).toBe("two");
  });

  test("gives no answer of a thing that was replaced meanwhile", async () => {
    const { work, end } = createHeld();
    const answer = things.askOnce(work, signal);
    replace("two", false);
    end();
    expect(await answer).toBeUndefined();
  });

  test("fails when the thing is left meanwhile", async () => {
    const { work } = createHeld();
    const answer = things.askOnce(work, signal);
    replace("two", true);
    await expect(answer).rejects.toThrow("the settings changed");
  });
});

test("follow() goes on with the next thing when one is left, and ends with its signal", async () => {
  const stop = new AbortController();
  const followed: string[] = [];
  const ended = things.follow(async ({ name }, signal) => {
    followed.push(name);
    await new Promise<void>((resolve) => {
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
  }, stop.signal);
  replace("two", false);
  await Bun.sleep(0);
  expect(followed).toEqual(["one"]);
  replace("three", true);
  await Bun.sleep(0);
  expect(followed).toEqual(["one", "three"]);
  stop.abort();
  await ended;
});
