import { expect, test } from "bun:test";
import {
  type AddressProblem,
  toDamaged,
  toExhausted,
  toFull,
  toNoMac,
  toOverlap,
  toPoolOverlap,
  toReserved,
  toStrays,
  toTwoPools,
} from "../../../../lib/controllers/vino/addresses/problems.ts";
import { MANAGEMENT, STORAGE } from "../../../support/vino/address_requests.ts";

const PROBLEMS: readonly AddressProblem[] = [
  toExhausted(MANAGEMENT, []),
  toFull(MANAGEMENT),
  toNoMac(MANAGEMENT),
  toOverlap(MANAGEMENT, { vino: "metal/b", network: STORAGE }),
  toPoolOverlap(MANAGEMENT, "ippool-192-168-0-0-16"),
  toTwoPools(MANAGEMENT, ["a", "b"]),
  toDamaged(MANAGEMENT, "a", "spec.subnet: must be set"),
  toStrays(MANAGEMENT, [{ ip: "192.0.2.1", machine: "vino-1b4e28ba-a-0" }]),
  toReserved(MANAGEMENT, "192.0.2.1", "vino-1b4e28ba-a-0", "a gateway"),
];

test("each problem names its network, says what to do, and has no full stop", () => {
  for (const { network, message } of PROBLEMS) {
    expect(network).toBe("management");
    expect(message).toMatch(/^network management [^;]+\. [A-Z][^;]+[^.;]$/);
    expect(message).not.toContain("undefined");
  }
});

test("toExhausted() says which Vinos have the addresses", () => {
  const counts = ["a", "b", "c", "d"].map((name, at) => [`metal/${name}`, 9 - at] as const);
  expect(toExhausted(MANAGEMENT, counts).message).toContain(
    ". 9 addresses are in use by Vino metal/a, 8 by Vino metal/b, 7 by Vino metal/c, the others by 1 more Vino. Widen",
  );
});
