/**
 * The program: hands the command line what belongs to the process, and its answer back.
 * @module
 */
import { writeSync } from "node:fs";
import { main } from "./lib/cli/main.ts";
import { LogPipe } from "./lib/host/log_pipe.ts";

/** A full disk or a reader that went away costs the text, not the controller. */
function write(file: 1 | 2, text: string): void {
  try {
    writeSync(file, text);
  } catch {
    // There is nowhere left to say so.
  }
}

const logPipe = LogPipe.open(2);
process.on("exit", () => logPipe?.flush());
const code = await main(process.argv.slice(2), {
  env: process.env,
  print: (text) => write(1, text),
  complain: (text) => (logPipe ? logPipe.write(text) : write(2, text)),
  ...(logPipe && { logPipe }),
});
process.exit(code);
