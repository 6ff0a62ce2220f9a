import { type Html, html } from '@tandem/web/html.ts'

const CLASSES = ['one', 'two', 'three', 'four'] as const
const WIDTH = 100

/** Parts of a whole, side by side: percents that sum to at most 100. */
export const meter = (parts: readonly number[]): Html => {
  let from = 0
  return html`<svg class="meter" viewBox="0 0 ${WIDTH} 8" preserveAspectRatio="none" aria-hidden="true" focusable="false">${parts.map(
    (part, at) => {
      const mark = html`<rect class="${CLASSES[at % CLASSES.length]}" x="${from}" y="0" width="${part}" height="8" />`
      from += part
      return mark
    },
  )}</svg>`
}
