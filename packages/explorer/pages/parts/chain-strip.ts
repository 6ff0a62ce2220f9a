import { formatNumber } from '@tandem/web/amounts.ts'
import { type Html, html } from '@tandem/web/html.ts'
import { pathTo } from './links.ts'

/** Blocks of the strip. */
export const STRIP_BLOCKS = 48

const WIDTH = 1_000
const HEIGHT = 116
const STEP = WIDTH / STRIP_BLOCKS
const BAR_WIDTH = 14
/** Foot of the bars, and line of the proof chain below it. */
const FOOT = 88
const PROOF_LINE = 106
const LEAST = 8
const MOST = 80

interface StripBlock {
  readonly number: number
  readonly gasUsed: string
  readonly transactionCount: number
}

/** The newest blocks as bars with the headers of the proof chain below them, the newest on the right; the lists have the same in words. */
export const chainStrip = (
  blocks: readonly StripBlock[],
  headers: readonly { readonly blockNumber: number }[],
): Html => {
  const [newest] = blocks
  if (newest === undefined) return html``
  const highest = blocks.reduce((most, { gasUsed }) => Math.max(most, Number(gasUsed)), 1)
  const middleOf = (number: number): number => Math.round(10 * (WIDTH - STEP * (newest.number - number + 0.5))) / 10
  const bars = blocks.map(({ number, gasUsed, transactionCount }) => {
    // The root lets small blocks be seen beside large ones.
    const height = Math.round(LEAST + (MOST - LEAST) * Math.sqrt(Number(gasUsed) / highest))
    const text = `Block ${formatNumber(number)}: ${formatNumber(transactionCount)} transactions, ${formatNumber(BigInt(gasUsed))} gas`
    return html`<a href="${pathTo('block', number)}" tabindex="-1"><rect class="${transactionCount > 0 ? 'block' : 'block idle'}" x="${middleOf(number) - BAR_WIDTH / 2}" y="${FOOT - height}" width="${BAR_WIDTH}" height="${height}" rx="4"><title>${text}</title></rect></a>`
  })
  const places = [...new Set(headers.map(({ blockNumber }) => blockNumber))]
    .filter(block => middleOf(block) > 0)
    .map(middleOf)
  return html`<svg class="strip" viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="xMaxYMid slice" aria-hidden="true" focusable="false">
${places.length > 1 && html`<line class="proof-line" x1="${Math.min(...places)}" x2="${Math.max(...places)}" y1="${PROOF_LINE}" y2="${PROOF_LINE}" />`}${places.map(x => html`<circle class="proof-header" cx="${x}" cy="${PROOF_LINE}" r="5" />`)}
${bars}</svg>`
}
