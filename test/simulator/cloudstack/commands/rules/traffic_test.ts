import { expect, test } from "bun:test";
import {
  checkCidrs,
  checkIcmp,
  checkRange,
  isPort,
} from "../../../../../lib/simulator/cloudstack/commands/rules/traffic.ts";

test("isPort() is 1 to 65535", () => {
  expect([-1, 0, 1, 65_535, 65_536].map(isPort)).toEqual([false, false, true, true, false]);
});

test("checkRange() refuses an end before the start", () => {
  expect(() => checkRange(80, 79)).toThrow("bigger than end port");
  for (const end of [80, 81, undefined]) expect(() => checkRange(80, end)).not.toThrow();
});

test.each([
  ["10.0.0.0/8", true],
  ["10.1.2.3/8", true],
  ["0.0.0.0/0", true],
  ["fd00::/64", true],
  ["10.0.0.1", false],
  ["10.0.0.0/33", false],
  ["fd00::/129", false],
  ["10.0.0/8", false],
  ["a/8", false],
  ["10.0.0.0/8 ", false],
])("checkCidrs() takes %s: %p", (cidr, isTaken) => {
  const check = (): void => checkCidrs(["0.0.0.0/0", cidr], "wrong:");
  if (isTaken) expect(check).not.toThrow();
  else expect(check).toThrow(`wrong: ${cidr}`);
});

test("checkIcmp() keeps ports and message types apart", () => {
  expect(() => checkIcmp("tcp", true, [80])).toThrow("ICMP protocol only");
  expect(() => checkIcmp("ICMP", true, [undefined, 80])).toThrow("start/end port");
  expect(() => checkIcmp("icmp", true, [undefined])).not.toThrow();
  expect(() => checkIcmp("udp", false, [53, 53])).not.toThrow();
});
