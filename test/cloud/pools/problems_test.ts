import { expect, test } from "bun:test";
import { describeUnknownPool, listOwners, nameRivals } from "../../../lib/cloud/pools/problems.ts";
import { toSettings, toSpec } from "../../support/pools/services.ts";

test("nameRivals() names three Services at most", () => {
  const list = (count: number): string =>
    nameRivals(
      Array.from({ length: count }, (_, at) => ({ claim: toSpec(`s${at}`), hold: "shown" })),
    );
  expect(list(1)).toBe("Service web/s0");
  expect(list(2)).toBe("Services web/s0 and web/s1");
  expect(list(3)).toBe("Services web/s0, web/s1 and web/s2");
  expect(list(5)).toBe("Services web/s0, web/s1, web/s2 and 2 more");
});

test("describeUnknownPool() names ten pools at most, and shows any text in one line", () => {
  const { pools } = toSettings(
    ...Array.from({ length: 12 }, (_, at) => ({
      name: `p${at}`,
      addresses: [`192.0.2.${at + 1}`],
    })),
  );
  const text = describeUnknownPool("x\n".repeat(500), pools);
  expect(text).not.toContain("\n");
  expect(text).toEndWith("p8, p9 and 2 more");
  expect(describeUnknownPool("x", [])).toBe('"x", which is no pool; there is none');
});

test("listOwners() names a hundred Services at most", () => {
  const rivals = Array.from({ length: 120 }, (_, at) => ({
    claim: toSpec(`s${at}`),
    hold: "shown" as const,
  }));
  expect(listOwners(rivals)).toHaveLength(100);
  expect(listOwners(rivals)[0]).toEqual(toSpec("s0").owner);
});
