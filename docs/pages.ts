/**
 * Every generated page of docs/reference.
 * @module
 */
import { DELETION_SETTINGS } from "../lib/config/deletion_settings.ts";
import { PROVIDERS } from "../lib/providers/mod.ts";
import { listCoverage } from "./acceptance_coverage.ts";
import { renderAcceptancePage } from "./acceptance_page.ts";
import { renderConfigPage } from "./config_page.ts";
import { renderFlagsPage } from "./flags_page.ts";
import { renderLabelsPage } from "./labels_page.ts";
import { renderMetricsPage } from "./metrics_page.ts";

/** Texts by file name in docs/reference. */
export function renderPages(): ReadonlyMap<string, string> {
  return new Map([
    ["acceptance.md", renderAcceptancePage(listCoverage())],
    ["config.md", renderConfigPage(PROVIDERS, DELETION_SETTINGS)],
    ["flags.md", renderFlagsPage()],
    ["labels.md", renderLabelsPage()],
    ["metrics.md", renderMetricsPage()],
  ]);
}
