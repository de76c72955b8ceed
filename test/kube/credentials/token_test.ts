/**
 * Bearer tokens.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { checkToken, readToken } from "../../../lib/kube/credentials/token.ts";
import { MemoryDisk } from "../../support/memory_disk.ts";

describe("readToken()", () => {
  test("trims what an editor left", async () => {
    const { readFile } = new MemoryDisk({ "/t": "\n abc \r\n" });
    expect(await readToken(readFile, "/t", { source: "/t" })).toBe("abc");
  });
});

describe("checkToken()", () => {
  test.each(["a b", "a\nb", "ü"])("refuses %p, which no header can carry", (token) => {
    const check = (): string => checkToken(token, { source: "/t" });
    expect(check).toThrow(/^\/t: the token contains white space or characters that are not ASCII$/);
  });
});
