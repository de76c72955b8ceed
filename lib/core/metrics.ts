/**
 * Counters, gauges and histograms in Prometheus text format.
 * @module
 */

/** Label values of one series, by label name. */
type Labels = Readonly<Record<string, string>>;

/** A value that only grows. */
export interface Counter {
  /** Adds `by`. @default by {1} */
  inc(labels?: Labels, by?: number): void;
  /** Current value, 0 when never touched. */
  value(labels?: Labels): number;
}

/** A value that goes up and down. */
export interface Gauge {
  set(value: number, labels?: Labels): void;
  /** Removes all series, before they are set again. */
  clear(): void;
  value(labels?: Labels): number;
}

/** A distribution of observed values. */
export interface Histogram {
  observe(value: number, labels?: Labels): void;
  /** How many values were observed. */
  count(labels?: Labels): number;
}

/** The name and the help text of a metric. */
interface MetricOptions {
  name: string;
  help: string;
}

interface Family {
  help: string;
  type: "counter" | "gauge" | "histogram";
  render(lines: string[]): void;
}

interface Distribution {
  labels: Labels;
  counts: number[];
  sum: number;
  count: number;
}

const DEFAULT_BUCKETS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60] as const;

/** All metrics of a process, or of one test. Registering a name twice is an error: a metric has one owner. */
export class MetricsRegistry {
  readonly #families = new Map<string, Family>();
  readonly #collectors: (() => void)[] = [];

  /** Registers a counter; its name ends in `_total`. */
  counter({ name, help }: MetricOptions): Counter {
    const values = this.#addValues(name, help, "counter");
    return {
      inc: (labels = {}, by = 1) => {
        const key = formatLabels(labels);
        values.set(key, (values.get(key) ?? 0) + by);
      },
      value: (labels = {}) => values.get(formatLabels(labels)) ?? 0,
    };
  }

  /** Registers a gauge. */
  gauge({ name, help }: MetricOptions): Gauge {
    const values = this.#addValues(name, help, "gauge");
    return {
      set: (value, labels = {}) => void values.set(formatLabels(labels), value),
      clear: () => values.clear(),
      value: (labels = {}) => values.get(formatLabels(labels)) ?? 0,
    };
  }

  /** Registers a histogram with upper bounds in ascending order. */
  histogram({
    name,
    help,
    buckets = DEFAULT_BUCKETS,
  }: MetricOptions & { buckets?: readonly number[] }): Histogram {
    const series = new Map<string, Distribution>();
    this.#add(name, {
      help,
      type: "histogram",
      render(lines) {
        for (const one of series.values()) renderDistribution(lines, name, buckets, one);
      },
    });
    return {
      observe(value, labels = {}) {
        const key = formatLabels(labels);
        const one = series.get(key) ?? { labels, counts: buckets.map(() => 0), sum: 0, count: 0 };
        series.set(key, one);
        for (let at = buckets.length - 1; value <= (buckets[at] ?? -Infinity); at -= 1) {
          one.counts[at] = (one.counts[at] ?? 0) + 1;
        }
        one.sum += value;
        one.count += 1;
      },
      count: (labels = {}) => series.get(formatLabels(labels))?.count ?? 0,
    };
  }

  /** Calls `collect` before each rendering, for gauges whose value is elsewhere. */
  onCollect(collect: () => void): void {
    this.#collectors.push(collect);
  }

  /** Names, types and help texts of everything registered, in order of name. */
  describe(): { name: string; type: string; help: string }[] {
    return [...this.#families]
      .map(([name, { type, help }]) => ({ name, type, help }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** The Prometheus text exposition, version 0.0.4. */
  render(): string {
    for (const collect of this.#collectors) collect();
    const lines: string[] = [];
    for (const [name, family] of this.#families) {
      lines.push(`# HELP ${name} ${family.help}`, `# TYPE ${name} ${family.type}`);
      family.render(lines);
    }
    return `${lines.join("\n")}\n`;
  }

  #add(name: string, family: Family): void {
    if (this.#families.has(name))
      throw new TypeError(`Cannot register metric "${name}": it exists`);
    this.#families.set(name, family);
  }

  /** @returns Values by their labels */
  #addValues(name: string, help: string, type: "counter" | "gauge"): Map<string, number> {
    const values = new Map<string, number>();
    this.#add(name, {
      help,
      type,
      render(lines) {
        for (const [labels, value] of values) lines.push(`${name}${labels} ${value}`);
      },
    });
    return values;
  }
}

/** Metrics of an owner that another one may replace: the next owner continues those of the one before. */
export class InheritedMetrics extends MetricsRegistry {
  readonly #registry: MetricsRegistry;
  readonly #counters = new Map<string, Counter>();
  readonly #gauges = new Map<string, Gauge>();
  readonly #histograms = new Map<string, Histogram>();

  constructor(registry: MetricsRegistry) {
    super();
    this.#registry = registry;
  }

  override counter(options: MetricOptions): Counter {
    return findOrAdd(this.#counters, options.name, () => this.#registry.counter(options));
  }

  override gauge(options: MetricOptions): Gauge {
    return findOrAdd(this.#gauges, options.name, () => this.#registry.gauge(options));
  }

  override histogram(options: Parameters<MetricsRegistry["histogram"]>[0]): Histogram {
    return findOrAdd(this.#histograms, options.name, () => this.#registry.histogram(options));
  }
}

function findOrAdd<T>(known: Map<string, T>, name: string, add: () => T): T {
  const metric = known.get(name) ?? add();
  known.set(name, metric);
  return metric;
}

/**
 * Sets one series of a gauge for each value that was found: how often it was found.
 *
 * @param label Name of the label
 * @param found The value of each thing
 * @param all Values that have a series also if nothing has them. @default {none}
 */
export function setCounts<T extends string>(
  gauge: Pick<Gauge, "clear" | "set">,
  label: string,
  found: Iterable<T>,
  all: readonly T[] = [],
): void {
  const counts = new Map<T, number>(all.map((value) => [value, 0]));
  for (const value of found) counts.set(value, (counts.get(value) ?? 0) + 1);
  gauge.clear();
  for (const [value, count] of counts) gauge.set(count, { [label]: value });
}

function renderDistribution(
  lines: string[],
  name: string,
  buckets: readonly number[],
  one: Distribution,
): void {
  buckets.forEach((bound, at) => {
    lines.push(
      `${name}_bucket${formatLabels({ ...one.labels, le: String(bound) })} ${one.counts[at] ?? 0}`,
    );
  });
  lines.push(`${name}_bucket${formatLabels({ ...one.labels, le: "+Inf" })} ${one.count}`);
  lines.push(`${name}_sum${formatLabels(one.labels)} ${one.sum}`);
  lines.push(`${name}_count${formatLabels(one.labels)} ${one.count}`);
}

/** Called several times for each reconcile and each request. */
function formatLabels(labels: Labels): string {
  let pairs = "";
  for (const key of Object.keys(labels).sort()) {
    pairs += `${pairs === "" ? "" : ","}${key}="${escapeLabel(labels[key] ?? "")}"`;
  }
  return pairs === "" ? "" : `{${pairs}}`;
}

function escapeLabel(value: string): string {
  const isPlain = !(value.includes("\\") || value.includes('"') || value.includes("\n"));
  if (isPlain) return value;
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
