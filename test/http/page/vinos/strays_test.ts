import { expect, test } from "bun:test";
import { Strays } from "../../../../lib/http/page/vinos/strays.tsx";
import { toShown } from "../../../support/page/vino_views.ts";

test("Strays() shows the first of very many, and nothing of none", () => {
  const strays = Array.from({ length: 101 }, (_, at) => toShown(`vino-1-a-${at}`));
  expect(String(Strays({ strays, hosts: [] }))).toContain("These are the first 100 of 101.");
  expect(Strays({ strays: [], hosts: [] })).toBeNull();
});
