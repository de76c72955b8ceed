/**
 * The requests to a simulated CloudStack.
 * @module
 */

/** One request. */
interface RequestFacts {
  readonly method: string;
  readonly command: string;
  /** Values by name in lower case, without the API key and the signature. */
  readonly parameters: ReadonlyMap<string, string>;
}

/** How many requests the log keeps at least. */
const ENTRIES_MAX = 5_000;

const SECRET: ReadonlySet<string> = new Set(["apikey", "signature"]);

/** Requests since the start or the last reset. Counts are exact; the list keeps the newest {@linkcode ENTRIES_MAX}. */
export class RequestLog {
  readonly #byCommand = new Map<string, number>();
  #entries: RequestFacts[] = [];

  /** The newest requests, oldest first. */
  get entries(): readonly RequestFacts[] {
    return this.#entries;
  }

  /** How often each command was asked, with any answer: `listZones` → 3. */
  get byCommand(): ReadonlyMap<string, number> {
    return this.#byCommand;
  }

  /** All requests. */
  get total(): number {
    let total = 0;
    for (const count of this.#byCommand.values()) total += count;
    return total;
  }

  /** How often one command was asked. */
  count(command: string): number {
    return this.#byCommand.get(command) ?? 0;
  }

  /** Adds a request. @param parameters Values by name in lower case */
  add(method: string, command: string, parameters: ReadonlyMap<string, string>): void {
    this.#byCommand.set(command, this.count(command) + 1);
    const kept = new Map<string, string>();
    for (const [name, value] of parameters) {
      if (!SECRET.has(name)) kept.set(name, value);
    }
    this.#entries.push({ method, command, parameters: kept });
    if (this.#entries.length > ENTRIES_MAX * 2) this.#entries.splice(0, ENTRIES_MAX);
  }

  /** Forgets all. */
  reset(): void {
    this.#entries = [];
    this.#byCommand.clear();
  }
}
