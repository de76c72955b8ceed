/**
 * The program: hands the command line what belongs to the process, and its answer back.
 * @module
 */
import { writeSync } from "node:fs";
import { main } from "./lib/cli/main.ts";
import { LogPipe } from "./lib/host/log_pipe.ts";

/** A full disk or a reader that went away costs the text, not the controller. @returns Whether it was written */
function write(file: 1 | 2, text: string): boolean {
  try {
    writeSync(file, text);
    return true;
  } catch {
    return false;
  }
}

const logPipe = LogPipe.open(2);
process.on("exit", () => logPipe?.flush());
let isPrinted = true;
const code = await main(process.argv.slice(2), {
  env: process.env,
  print: (text) => {
    isPrinted = write(1, text) && isPrinted;
  },
  complain: (text) => void (logPipe ? logPipe.write(text) : write(2, text)),
  ...(logPipe && { logPipe }),
});
// What was asked for and could not be given is no success.
process.exit(code === 0 && !isPrinted ? 1 : code);
