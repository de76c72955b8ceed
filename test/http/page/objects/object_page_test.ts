import { expect, test } from "bun:test";
import { renderNoObjectPage } from "../../../../lib/http/page/objects/object_page.tsx";

test("renderNoObjectPage() says what is missing, and leads to the list", async () => {
  const html = await renderNoObjectPage({
    title: "No such Vino",
    sentence: "There is no Vino “<b>”",
    list: { href: "../vinos", words: "All Vinos" },
    base: "../",
  });
  expect(html).toContain("<title>No such Vino · Landfall</title>");
  expect(html).toContain('<h1 class="name">There is no Vino “&lt;b&gt;”</h1>');
  expect(html).toContain('<a href="../vinos">All Vinos</a>');
});
