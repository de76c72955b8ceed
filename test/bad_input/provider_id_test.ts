/**
 * Provider IDs: what is written is read again, what is not ours is left alone, and nothing is read as two.
 * @module
 */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  formatProviderId as formatStatic,
  parseProviderId as parseStatic,
} from "../../lib/providers/static/mod.ts";
import { formatProviderId, parseProviderId } from "../../lib/providers/xenorchestra/identity.ts";
import { tries } from "../support/extent.ts";
import { anyText } from "../support/net/hostile.ts";

const uuid = fc.uuid().filter((text) => /[^0-]/.test(text));
/** Something between, before or after the parts. */
const odd = fc.constantFrom(
  "",
  " ",
  "\n",
  "\0",
  "/",
  "//",
  ":",
  "{",
  "}",
  "%2f",
  "\u202e",
  "０",
  "é",
  "-",
  "urn:uuid:",
);

describe("parseProviderId()", () => {
  test("reads what formatProviderId() wrote, and of anything else never another machine", () => {
    fc.assert(
      fc.property(uuid, uuid, odd, fc.nat(90), (pool, vm, put, at) => {
        const whole = formatProviderId(pool, vm);
        expect(parseProviderId(whole)).toEqual({ kind: "ours", poolId: pool, vmId: vm });
        const torn = parseProviderId(whole.slice(0, at) + put + whole.slice(at));
        if (torn.kind !== "ours") return;
        expect([vm, undefined]).toContain(torn.vmId);
        expect([pool, undefined]).toContain(torn.poolId);
      }),
      tries(300),
    );
  });

  test("calls every other text foreign or malformed, in few words and one line", () => {
    fc.assert(
      fc.property(
        anyText,
        fc.constantFrom("", "xenorchestra", "xenorchestra://", "static://"),
        (text, head) => {
          for (const parsed of [parseProviderId(head + text), parseStatic("static", head + text)]) {
            if (parsed.kind !== "malformed") continue;
            expect(parsed.message.length).toBeLessThan(1_500);
            expect(parsed.message).not.toMatch(/[\p{Cc}\p{Cf}]/u);
          }
          expect(parseProviderId(head + text).kind).not.toBe("ours");
        },
      ),
      tries(300),
    );
  });

  test("of an inventory reads what was written, and nothing that a label or a path could be", () => {
    const id = fc.string({ unit: fc.constantFrom(..."aZ09-_."), minLength: 1, maxLength: 260 });
    fc.assert(
      fc.property(id, odd, (one, put) => {
        const parsed = parseStatic("static", formatStatic("static", one));
        const isGood = one.length <= 253 && /^[a-z0-9].*[a-z0-9]$|^[a-z0-9]$/i.test(one);
        expect(parsed.kind).toBe(isGood ? "ours" : "malformed");
        const torn = parseStatic("static", `static://${one}${put}`);
        if (torn.kind === "ours") expect(one + put).toBe(torn.id);
      }),
      tries(300),
    );
  });
});
