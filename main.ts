/**
 * The program: hands the command line what belongs to the process, and its answer back.
 * @module
 */
import { writeSync } from "node:fs";
import { main } from "./lib/cli/main.ts";

const code = await main(process.argv.slice(2), {
  env: process.env,
  print: (text) => writeSync(1, text),
  complain: (text) => writeSync(2, text),
});
process.exit(code);
