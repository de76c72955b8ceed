import { expect, test } from "bun:test";
import { ComparisonTable } from "../../../lib/http/page/comparison_table.tsx";

test("ComparisonTable() gives a verdict in words on each line", () => {
  const html = String(
    ComparisonTable({
      title: "Labels",
      empty: "none",
      lines: [
        { name: "a", wanted: "1", actual: "1", state: "same" },
        { name: "b", wanted: "", state: "missing" },
        { name: "c", wanted: "1", actual: "<2>", state: "differs" },
      ],
    }),
  );
  for (const text of ["in sync", "missing", "(empty)", "differs", "&lt;2&gt;"]) {
    expect(html).toContain(text);
  }
});

test("ComparisonTable() says so when there is nothing to compare", () => {
  const lines = [{ name: "spec.providerID", state: "unknown" }] as const;
  const html = String(ComparisonTable({ title: "T", empty: "nothing <here>", lines }));
  expect(html).toContain("nothing &lt;here&gt;");
  expect(html).not.toContain("<table>");
});
