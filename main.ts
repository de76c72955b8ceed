/**
 * The program: hands arguments and environment to the command line, and its answer to the process.
 * @module
 */
import { main } from "./lib/cli/main.ts";

process.exitCode = await main(process.argv.slice(2), process.env);
