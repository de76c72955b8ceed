import { describe, expect, test } from "bun:test";
import {
  checkConflicts,
  needPort,
} from "../../../../../lib/simulator/cloudstack/commands/addresses/ports.ts";
import { Parameters } from "../../../../../lib/simulator/cloudstack/parameters.ts";
import { toPortForwarding } from "../../../../../lib/simulator/cloudstack/world/load_balancing.ts";
import { toPublicIp } from "../../../../../lib/simulator/cloudstack/world/records.ts";
import { CloudStackState } from "../../../../../lib/simulator/cloudstack/world/state.ts";

describe("the ports of an address", () => {
  test.each([
    ["1", 1],
    ["65535", 65_535],
  ])("needPort() takes %s", (text, port) => {
    const parameters = new Parameters(new Map([["publicport", text]]));
    expect(needPort(parameters, "publicport", "publicPort")).toBe(port);
  });

  test.each(["0", "65536", "-1", "80.5", "http", ""])("needPort() refuses %p", (text) => {
    const parameters = new Parameters(new Map([["publicport", text]]));
    expect(() => needPort(parameters, "publicport", "publicPort")).toThrow("public");
  });

  test("checkConflicts() refuses every range that overlaps, on this address only", () => {
    const ip = toPublicIp("192.0.2.1", "z", "a");
    const other = toPublicIp("192.0.2.2", "z", "a");
    const ports = { publicPort: 80, publicEndPort: 90, protocol: "udp" } as const;
    const there = { ...toPortForwarding({ ip, vmId: "v", ...ports }), id: "00ff" };
    const state = new CloudStackState({ portForwardings: [there] });
    for (const [from, to] of [
      [79, 80],
      [85, 85],
      [90, 100],
      [1, 65_535],
    ] as const) {
      const text = `The range specified, ${from}-${to}, conflicts with rule 255 which has 80-90`;
      expect(() => checkConflicts(state, ip, from, to)).toThrow(text);
    }
    expect(() => checkConflicts(state, ip, 79)).not.toThrow();
    expect(() => checkConflicts(state, ip, 91)).not.toThrow();
    expect(() => checkConflicts(state, other, 80)).not.toThrow();
  });
});
