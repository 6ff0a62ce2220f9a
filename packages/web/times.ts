import { type Html, html } from './html.ts'

const MS = 1_000
const SECONDS_PER_DAY = 86_400
/** Days of 400 years, after which the calendar repeats. */
const ERA_DAYS = 146_097
const ERA_YEARS = 400

/** Unix seconds as YYYY-MM-DDTHH:MM:SS.000Z; years beyond 9999 have more digits, and none is beyond the range of Date. */
export const isoTime = (timestamp: number): string => {
  const eras = Math.floor(timestamp / (ERA_DAYS * SECONDS_PER_DAY))
  const iso = new Date((timestamp - eras * ERA_DAYS * SECONDS_PER_DAY) * MS).toISOString()
  return `${String(Number(iso.slice(0, 4)) + eras * ERA_YEARS).padStart(4, '0')}${iso.slice(4)}`
}

/** Day since 1970 as YYYY-MM-DD. */
export const isoDay = (day: number): string => isoTime(day * SECONDS_PER_DAY).replace(/T.*/, '')

/** Time of a block, UTC: unix seconds. */
export const timeOf = (timestamp: number): Html => {
  const iso = isoTime(timestamp)
  return html`<time datetime="${iso}">${iso.slice(0, -5).replace('T', ' ')} UTC</time>`
}

const AGES: readonly (readonly [number, number, string])[] = [
  [60, 1, 's'],
  [3_600, 60, 'min'],
  [86_400, 3_600, 'h'],
  [Number.POSITIVE_INFINITY, 86_400, 'd'],
]

/** Age of a time when the page was made; the page's script keeps it current. */
export const ageOf = (timestamp: number, nowMs: number): Html => {
  const seconds = Math.max(0, Math.round(nowMs / MS) - timestamp)
  const [, unit, name] = AGES.find(([below]) => seconds < below) as (typeof AGES)[number]
  const iso = isoTime(timestamp)
  return html`<time class="age" datetime="${iso}" title="${iso.slice(0, -5).replace('T', ' ')} UTC">${Math.floor(seconds / unit)} ${name} ago</time>`
}

/** Length of time in words: the largest two units. */
export const durationText = (seconds: number): string => {
  const units: readonly (readonly [number, string])[] = [
    [31_536_000, 'year'],
    [86_400, 'day'],
    [3_600, 'hour'],
    [60, 'minute'],
    [1, 'second'],
  ]
  let rest = Math.max(0, Math.round(seconds))
  const words: string[] = []
  for (const [size, name] of units) {
    const count = Math.floor(rest / size)
    if (count === 0) continue
    if (words.length < 2) words.push(`${count.toLocaleString('en-US')} ${name}${count === 1 ? '' : 's'}`)
    rest -= count * size
  }
  return words.length === 0 ? '0 seconds' : words.join(' ')
}
