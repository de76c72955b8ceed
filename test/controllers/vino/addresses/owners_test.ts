import { expect, test } from "bun:test";
import {
  type AddressOwner,
  formatOwner,
  parseOwner,
} from "../../../../lib/controllers/vino/addresses/owners.ts";

const OWNERS: readonly [text: string, owner: AddressOwner][] = [
  [
    "metal/tenant/vino-1b4e28ba-worker-3/oam",
    { vino: "metal/tenant", machine: "vino-1b4e28ba-worker-3", interface: "oam" },
  ],
  ["a/b/vino-1b4e28ba-a-0/x/y", { vino: "a/b", machine: "vino-1b4e28ba-a-0", interface: "x/y" }],
];
for (const [text, owner] of OWNERS) {
  test(`formatOwner() and parseOwner() agree on ${text}`, () => {
    expect(formatOwner(owner)).toBe(text);
    expect(parseOwner(text)).toEqual(owner);
  });
}

test.each(["node01", "vino-system-vino-node01-master-0/management", "a/b/c/d", "a/b/vino-1/", ""])(
  "parseOwner() knows no owner %p, which another program wrote",
  (text) => {
    expect(parseOwner(text)).toBeUndefined();
  },
);
