/**
 * The program: gives the command line what belongs to the process, and exits with its code.
 * @module
 */
import { fstatSync, writeSync } from "node:fs";
import { main } from "./lib/cli/main.ts";
import { toProgramName } from "./lib/cli/program_name.ts";
import { LogPipe } from "./lib/host/log_pipe.ts";

/** A full disk or a reader that is gone must not stop the process. @returns Whether the text was written */
function write(file: 1 | 2, text: string): boolean {
  try {
    writeSync(file, text);
    return true;
  } catch {
    return false;
  }
}

/** Width of the terminal, if there is one. `node:tty` takes longer to load than most commands run. */
function findColumns(): number | undefined {
  if (!fstatSync(1).isCharacterDevice()) return undefined;
  const { isatty } = process.getBuiltinModule("node:tty");
  return isatty(1) ? process.stdout.columns : undefined;
}

const logPipe = LogPipe.open(2);
process.on("exit", () => logPipe?.flush());
let isPrinted = true;
const code = await main(process.argv.slice(2), {
  env: process.env,
  program: toProgramName(process.argv0, process.execPath),
  print: (text) => {
    isPrinted = write(1, text) && isPrinted;
  },
  hasReader: () => isPrinted,
  columns: findColumns,
  complain: (text) => void (logPipe ? logPipe.write(text) : write(2, text)),
  ...(logPipe && { logPipe }),
});
// A command whose output could not be written has failed.
process.exit(code === 0 && !isPrinted ? 1 : code);
