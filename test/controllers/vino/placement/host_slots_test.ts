import { expect, test } from "bun:test";
import { HostSlots } from "../../../../lib/controllers/vino/placement/host_slots.ts";
import { toDoubleHost } from "../../../support/vino/machines_double.ts";

const HOSTS = ["h1", "h2", "h3"].map((id) => toDoubleHost(id, { isEnabled: id !== "h3" }));

test("HostSlots gives the host with the fewest machines of the role, then of all roles", () => {
  const usage = new Map([["h1", 5]]);
  const slots = new HostSlots(HOSTS, usage, Infinity);
  slots.take("h2");
  expect([slots.give(), slots.give(), slots.give()]).toEqual(["h1", "h2", "h1"]);
  expect([...usage]).toEqual([
    ["h1", 7],
    ["h2", 2],
  ]);
});

test("HostSlots gives each enabled host only so many machines of the role", () => {
  const slots = new HostSlots(HOSTS, new Map(), 1);
  expect([slots.give(), slots.give(), slots.give()]).toEqual(["h1", "h2", undefined]);
});
