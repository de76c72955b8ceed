import { expect, test } from "bun:test";
import { formatConditions, formatPools } from "../../lib/http/common_tables.ts";

test("formatConditions() has a row for each condition", () => {
  const condition = { type: "Ready", status: "False", reason: "Progressing", message: "1 of 2" };
  expect(formatConditions([condition])).toBe(
    "CONDITION  STATUS  REASON       MESSAGE\nReady      False   Progressing  1 of 2\n",
  );
});

test("formatPools() has a row for each pool and family", () => {
  expect(formatPools([{ pool: "edge", family: "IPv4", used: 3, total: 16 }])).toBe(
    "POOL  FAMILY  USED  TOTAL\nedge  IPv4    3     16\n",
  );
});
