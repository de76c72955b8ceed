import { expect, test } from "bun:test";
import { TableHead } from "../../../lib/http/page/table_head.tsx";

test("each title is that of a column, and is escaped", () => {
  expect(String(TableHead({ titles: ["Node", "<b>"] }))).toBe(
    '<thead><tr><th scope="col">Node</th><th scope="col">&lt;b&gt;</th></tr></thead>',
  );
});
