/**
 * A folder as the kubelet mounts a Secret: all files change at once, by a symbolic link that is switched.
 * @module
 */
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A mounted Secret. `using` removes it. */
export class SecretMount implements Disposable {
  readonly folder: string = mkdtempSync(join(tmpdir(), "landfall-secret-"));
  readonly #files = new Map<string, string>();
  #version = 0;

  constructor(files: Readonly<Record<string, string>>) {
    this.update(files);
  }

  /** Path of a file, which stays the same. */
  path(name: string): string {
    return join(this.folder, name);
  }

  /** Changes these files; the others stay. All of them change in one moment. */
  update(files: Readonly<Record<string, string>>): void {
    this.#version += 1;
    const version = `..2026_11_21_${this.#version}`;
    mkdirSync(this.path(version));
    for (const [name, text] of Object.entries(files)) {
      if (!this.#files.has(name)) symlinkSync(join("..data", name), this.path(name));
      this.#files.set(name, text);
    }
    for (const [name, text] of this.#files) writeFileSync(this.path(join(version, name)), text);
    symlinkSync(version, this.path("..data_tmp"));
    renameSync(this.path("..data_tmp"), this.path("..data"));
    rmSync(this.path(`..2026_11_21_${this.#version - 1}`), { recursive: true, force: true });
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
