/**
 * Forms and byte order of UUIDs.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { assert, property, uuid } from "fast-check";
import { parseUuid, swapUuid } from "../../../lib/core/text/uuid.ts";

const UUID = "e865e63f-3d30-4f0b-83e0-0123456789ab";

describe("parseUuid()", () => {
  test.each([
    UUID,
    UUID.toUpperCase(),
    UUID.replaceAll("-", ""),
    `{${UUID}}`,
    `urn:uuid:${UUID}`,
    `URN:UUID:${UUID.toUpperCase()}`,
  ])("reads %p", (text) => {
    expect(parseUuid(text)).toBe(UUID);
  });

  test.each([
    "",
    "x",
    UUID.slice(1),
    `${UUID}0`,
    ` ${UUID}`,
    `{${UUID}`,
    `${UUID}}`,
    UUID.replace("-", ""),
    UUID.replace("e", "g"),
    "00000000-0000-0000-0000-000000000000",
    "{00000000-0000-0000-0000-000000000000}",
    "0".repeat(32),
  ])("refuses %p", (text) => {
    expect(parseUuid(text)).toBeUndefined();
  });
});

describe("swapUuid()", () => {
  test("reverses the first three groups as UEFI guests show them", () => {
    expect(swapUuid(UUID)).toBe("3fe665e8-303d-0b4f-83e0-0123456789ab");
  });

  test.each(["", "not a UUID", "a-b-c", "ab-cd-ef"])("leaves %p as it is", (text) => {
    expect(swapUuid(text)).toBe(text);
  });

  test("undoes itself", () => {
    assert(property(uuid(), (one) => swapUuid(swapUuid(one)) === one));
  });
});
