import { describe, expect, test } from "bun:test";
import { formatRecord, parseRecord } from "../../../lib/cloud/pools/record.ts";

describe("parseRecord()", () => {
  test("reads every form that was ever written", () => {
    expect(parseRecord('{"v":1,"addresses":["192.0.2.1"]}')).toEqual({ addresses: ["192.0.2.1"] });
    expect(parseRecord('{"v":1,"addresses":["192.0.2.1","2001:db8::1"],"pool":"web"}')).toEqual({
      addresses: ["192.0.2.1", "2001:db8::1"],
      pool: "web",
    });
  });

  test("reads what formatRecord() writes, which fits into the annotation", () => {
    const record = {
      addresses: ["255.255.255.254", "2001:db8:1111:2222:3333:4444:5555:6666"],
      pool: "x".repeat(253),
    };
    const text = formatRecord(record);
    expect(text.length).toBeLessThan(1_024);
    expect(parseRecord(text)).toEqual(record);
  });

  const odd: readonly [string | undefined, readonly string[]][] = [
    [undefined, []],
    ["", []],
    ["null", []],
    ["7", []],
    ["[]", []],
    ["{", []],
    ['{"addresses":["192.0.2.1"]}', []],
    ['{"v":"1","addresses":["192.0.2.1"]}', []],
    ['{"v":2,"addresses":["192.0.2.1"]}', []],
    ['{"v":1}', []],
    ['{"v":1,"addresses":"192.0.2.1"}', []],
    ['{"v":1,"addresses":[null,7,{},"x","192.0.2.1","192.0.2.2"]}', ["192.0.2.1"]],
    ['{"v":1,"addresses":["2001:DB8::0"],"pool":7}', ["2001:db8::"]],
    [`{"v":1,"addresses":["192.0.2.1"],"x":"${"x".repeat(1_024)}"}`, []],
    [`${"[".repeat(1_000)}`, []],
  ];
  test.each(odd)("leaves out what it cannot read of %j", (text, addresses) => {
    expect(parseRecord(text)).toEqual({ addresses: [...addresses] });
  });
});
