import { expect, test } from "bun:test";
import { ServerLife } from "../../../../lib/simulator/xenorchestra/writes/life.ts";

test("ServerLife gives each process a signal of its own, and tells of each end and start once", () => {
  const life = new ServerLife();
  const told: boolean[] = [];
  life.watch((isUp) => told.push(isUp));
  const first = life.signal;
  life.start();
  life.kill();
  life.kill();
  expect([life.isUp, first.aborted]).toEqual([false, true]);
  life.start();
  expect([life.isUp, life.signal.aborted, told]).toEqual([true, false, [false, true]]);
});
