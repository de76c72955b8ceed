import { expect, test } from "bun:test";
import { Strays } from "../../../../lib/http/page/vinos/strays.tsx";
import { CLOUD, toShown } from "../../../support/page/vino_views.ts";

test("Strays() names machines with their hosts", () => {
  const html = String(Strays({ strays: [toShown("vino-1-a-0")], hosts: CLOUD.hosts }));
  expect(html).toContain('<th scope="row">vino-1-a-0</th>');
  expect(html).toContain('<td data-label="Host">h1</td>');
});

test("Strays() shows the first of very many, and nothing of none", () => {
  const strays = Array.from({ length: 101 }, (_, at) => toShown(`vino-1-a-${at}`));
  expect(String(Strays({ strays, hosts: [] }))).toContain("These are the first 100 of 101.");
  expect(Strays({ strays: [], hosts: [] })).toBeNull();
});
