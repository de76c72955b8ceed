/**
 * Installs the judges of the cluster tests that are not there yet. What cannot be installed is said, and its tests are
 * skipped, or fail when `CI` is set.
 * @module
 */
import { install, JUDGES } from "./install.ts";

for (const judge of JUDGES) {
  try {
    await install(judge);
  } catch (error) {
    process.stderr.write(`\n*** Cannot install ${judge.name}: ${String(error)} ***\n\n`);
  }
}
