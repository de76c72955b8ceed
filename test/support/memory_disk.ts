/**
 * Text files in memory, for code that takes a function to read files with.
 * @module
 */

/** Files by absolute path; a test may change them at any time. */
export class MemoryDisk {
  readonly files: Map<string, string>;
  /** Paths in the order they were read. */
  readonly reads: string[] = [];

  constructor(files: Readonly<Record<string, string>> = {}) {
    this.files = new Map(Object.entries(files));
  }

  /** Reads as `node:fs/promises` does: a missing file rejects with the code `ENOENT`. */
  readonly readFile = (path: string): Promise<string> => {
    this.reads.push(path);
    const text = this.files.get(path);
    if (text !== undefined) return Promise.resolve(text);
    return Promise.reject(Object.assign(new Error(`no ${path}`), { code: "ENOENT" }));
  };
}
