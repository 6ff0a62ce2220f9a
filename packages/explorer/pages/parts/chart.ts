import { type Html, html } from '@tandem/web/html.ts'

/* Charts as SVG, written by the server: they need no script, follow the colours of the page, and have a table of the same figures. */

const WIDTH = 480
/** Width of a chart that is as wide as the page. */
const WIDE = 1_000
const HEIGHT = 190
const LEFT = 52
const RIGHT = 8
const TOP = 10
const BOTTOM = 24
const GRID_LINES = 4
const LABELS = 6

interface ChartPoint {
  /** Name below the axis, and in the mark's title. */
  readonly label: string
  readonly value: number
}

interface ChartOptions {
  /** Sentence for those who do not see the chart. */
  readonly summary: string
  readonly kind: 'bars' | 'line'
  readonly points: readonly ChartPoint[]
  readonly format: (value: number) => string
  readonly isWide?: boolean
  /** Points from one label to the next; as many as there is room for by default. */
  readonly labelEvery?: number
  /** Colour of the proof chain. */
  readonly isProof?: boolean
  /** Vertical line at the position of a point, with its name. */
  readonly marker?: { readonly at: number; readonly label: string } | undefined
}

/** Round numbers whose quarters are short. */
const ROUND = [1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8, 10] as const

/** Next round number not below a value; of whole numbers one whose quarters are whole too, as half a transaction is none. */
const niceCeiling = (value: number, isWhole: boolean): number => {
  if (!(value > 0) || !Number.isFinite(value)) return isWhole ? GRID_LINES : 1
  const power = 10 ** Math.floor(Math.log10(value))
  const steps = [power, 10 * power].flatMap(size => ROUND.map(step => step * size))
  return steps.find(step => step >= value && (!isWhole || step % GRID_LINES === 0)) ?? 10 * power
}

const rounded = (value: number): number => Math.round(value * 100) / 100

interface Scale {
  readonly top: number
  readonly right: number
  readonly x: (index: number) => number
  readonly y: (value: number) => number
  readonly step: number
}

const scaleOf = ({ points, isWide = false }: ChartOptions): Scale => {
  const values = points.map(({ value }) => value)
  const top = niceCeiling(Math.max(...values), values.every(Number.isInteger))
  const right = (isWide ? WIDE : WIDTH) - RIGHT
  const step = (right - LEFT) / Math.max(1, points.length)
  return {
    top,
    right,
    step,
    x: index => rounded(LEFT + step * (index + 0.5)),
    y: value => rounded(TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / top)),
  }
}

const grid = ({ top, right, y }: Scale, format: (value: number) => string): readonly Html[] =>
  Array.from({ length: GRID_LINES + 1 }, (_, line) => {
    const value = (top * line) / GRID_LINES
    return html`<line class="grid" x1="${LEFT}" x2="${right}" y1="${y(value)}" y2="${y(value)}" /><text x="${LEFT - 6}" y="${y(value) + 4}" text-anchor="end">${format(value)}</text>`
  })

const labels = ({ points, labelEvery }: ChartOptions, { x }: Scale): readonly Html[] => {
  const every = labelEvery ?? Math.max(1, Math.ceil(points.length / LABELS))
  return points.flatMap(({ label }, index) =>
    index % every === 0
      ? [
          html`<text class="${(index / every) % 2 === 0 ? 'tick' : 'tick minor'}" x="${x(index)}" y="${HEIGHT - 6}" text-anchor="middle">${label}</text>`,
        ]
      : [],
  )
}

const bars = ({ points, format }: ChartOptions, { x, y, step }: Scale): readonly Html[] => {
  const width = rounded(Math.min(42, Math.max(1, step * 0.72)))
  return points.map(({ label, value }, index) => {
    const height = rounded(Math.max(0, y(0) - y(value)))
    return html`<rect class="bar-mark" x="${rounded(x(index) - width / 2)}" y="${y(value)}" width="${width}" height="${height}" rx="2"><title>${label}: ${format(value)}</title></rect>`
  })
}

const line = ({ points }: ChartOptions, { x, y }: Scale): Html => {
  const places = points.map(({ value }, index) => `${x(index)},${y(value)}`)
  const last = points.length - 1
  return html`<polygon class="area" points="${x(0)},${y(0)} ${places.join(' ')} ${x(last)},${y(0)}" /><polyline class="line" points="${places.join(' ')}" />`
}

/** A chart; nothing without points. */
export const chart = (options: ChartOptions): Html => {
  const { points, summary, kind, format, isProof = false, isWide = false, marker } = options
  if (points.length === 0) return html``
  const scale = scaleOf(options)
  return html`
<figure class="${isProof ? 'chart proof' : 'chart'}"><svg viewBox="0 0 ${isWide ? WIDE : WIDTH} ${HEIGHT}" role="img" aria-label="${summary}">
${grid(scale, format)}${labels(options, scale)}${kind === 'bars' ? bars(options, scale) : line(options, scale)}
${marker && html`<line class="marker" x1="${scale.x(marker.at)}" x2="${scale.x(marker.at)}" y1="${TOP}" y2="${HEIGHT - BOTTOM}" /><text x="${scale.x(marker.at) + 5}" y="${TOP + 10}">${marker.label}</text>`}
</svg></figure>`
}

const SUFFIXES: readonly (readonly [number, string])[] = [
  [1e12, 'T'],
  [1e9, 'B'],
  [1e6, 'M'],
  [1e3, 'k'],
]

/** A number in few characters: 1.2k, 30M. */
export const shortNumber = (value: number): string => {
  const found = SUFFIXES.find(([size]) => value >= size)
  if (found === undefined) return value.toLocaleString('en-US', { maximumFractionDigits: value < 10 ? 3 : 1 })
  return `${(value / found[0]).toLocaleString('en-US', { maximumFractionDigits: 1 })}${found[1]}`
}
