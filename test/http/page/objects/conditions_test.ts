import { expect, test } from "bun:test";
import { Conditions } from "../../../../lib/http/page/objects/conditions.tsx";

test("Conditions() shows each with its reason, and its message if it has one", () => {
  const base = { type: "Ready", status: "True", reason: "Fine" };
  const html = String(
    Conditions({
      conditions: [
        { ...base, message: "" },
        { ...base, type: "Other", message: "why" },
      ],
    }),
  );
  expect(html).toContain("<dt>Ready</dt><dd>True: Fine</dd>");
  expect(html).toContain('<dt>Other</dt><dd>True: Fine<p class="soft">why</p></dd>');
});

test("Conditions() without any says so", () => {
  expect(String(Conditions({ conditions: [] }))).toContain("It has no conditions yet.");
});
