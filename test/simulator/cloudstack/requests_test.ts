import { expect, test } from "bun:test";
import { ENTRIES_MAX, RequestLog } from "../../../lib/simulator/cloudstack/requests.ts";

test("RequestLog keeps parameters without keys and signatures", () => {
  const log = new RequestLog();
  const parameters = new Map([
    ["id", "1"],
    ["apikey", "K"],
    ["signature", "S"],
  ]);
  log.add("GET", "listZones", parameters);
  expect(log.entries).toEqual([
    { method: "GET", command: "listZones", parameters: new Map([["id", "1"]]) },
  ]);
});

test("RequestLog counts by command, also what it no longer keeps", () => {
  const log = new RequestLog();
  for (let count = 0; count <= ENTRIES_MAX * 2; count += 1) log.add("GET", "a", new Map());
  log.add("POST", "b", new Map());
  expect([log.count("a"), log.count("b"), log.count("c"), log.total]).toEqual([
    ENTRIES_MAX * 2 + 1,
    1,
    0,
    ENTRIES_MAX * 2 + 2,
  ]);
  expect(log.entries.length).toBeLessThanOrEqual(ENTRIES_MAX * 2);
  expect(log.entries.at(-1)?.command).toBe("b");
  log.reset();
  expect([log.total, log.entries.length, log.byCommand.size]).toEqual([0, 0, 0]);
});
