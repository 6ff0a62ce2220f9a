import { assert } from '@tandem/base/assert.ts'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'

/** Valid endings of a name. A counter ends in `_total`; every other metric in the unit or the thing it counts. */
const UNITS = [
  'seconds',
  'bytes',
  'ratio',
  'wei',
  'info',
  'number',
  'height',
  'round',
  'count',
  'size',
  'blocks',
  'headers',
  'transactions',
  'accounts',
  'requests',
  'peers',
  'connections',
  'subscriptions',
  'validators',
  'hashes',
  'state',
] as const

const NAME = /^[a-z][a-z0-9]*(?:_[a-z0-9]+)+$/

/** Seconds, from a tenth of a millisecond to ten seconds: fits anything one block time long. */
const LATENCY_BUCKETS_SECONDS = [0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]

interface MetricOptions<Label extends string> {
  /** `<part>_<thing>_<unit>`, for example `txpool_submit_seconds`. */
  readonly name: string
  readonly help: string
  readonly labels?: readonly Label[]
}
interface HistogramOptions<Label extends string> extends MetricOptions<Label> {
  readonly buckets?: readonly number[]
}

/** Metrics of one node. Each part declares its own beside its code; a name is checked and may be declared once. */
export class Metrics {
  readonly #registry = new Registry()
  readonly #collectors: (() => void)[] = []
  readonly contentType: string = this.#registry.contentType

  counter<Label extends string = never>(options: MetricOptions<Label>): Counter<Label> {
    checkName(options.name, ['total'])
    return new Counter({ ...this.#common(options) })
  }

  gauge<Label extends string = never>(options: MetricOptions<Label>): Gauge<Label> {
    checkName(options.name, UNITS)
    return new Gauge({ ...this.#common(options) })
  }

  /** Declares a gauge whose value is read at each scrape. */
  readGauge(name: string, help: string, read: () => number): void {
    const gauge = this.gauge({ name, help })
    this.onScrape(() => gauge.set(read()))
  }

  histogram<Label extends string = never>(options: HistogramOptions<Label>): Histogram<Label> {
    checkName(options.name, UNITS)
    return new Histogram({ ...this.#common(options), buckets: [...(options.buckets ?? LATENCY_BUCKETS_SECONDS)] })
  }

  /** Runs before each scrape, for gauges with labels whose values are read rather than stored. */
  onScrape(collect: () => void): void {
    this.#collectors.push(collect)
  }

  /** Prometheus text format, version 0.0.4. */
  render(): Promise<string> {
    for (const collect of this.#collectors) collect()
    return this.#registry.metrics()
  }

  #common<Label extends string>(options: MetricOptions<Label>) {
    return {
      name: options.name,
      help: options.help,
      labelNames: [...(options.labels ?? [])],
      registers: [this.#registry],
    }
  }
}

const checkName = (name: string, endings: readonly string[]): void => {
  assert(NAME.test(name), `metric name ${name} is not <part>_<thing>_<unit> in lower case`)
  const ending = name.slice(name.lastIndexOf('_') + 1)
  assert(endings.includes(ending), `metric name ${name} must end in one of ${endings.join(', ')}`)
}
