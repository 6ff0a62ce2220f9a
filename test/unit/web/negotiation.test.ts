import { acceptsGzip, wantsPage } from '@tandem/web/negotiation.ts'
import { expect, test } from 'vitest'

test('text/html has to be named, and not refused', () => {
  for (const yes of ['text/html', 'application/json, text/html;q=0.5', ' Text/HTML ; charset=x'])
    expect(wantsPage(yes), yes).toBe(true)
  for (const no of [undefined, '', '*/*', 'text/*', 'text/html;q=0', 'text/html;q=0.0', 'x-text/html', 'text/htmlx'])
    expect(wantsPage(no), no).toBe(false)
})

test('gzip has to be named, and not refused', () => {
  expect(acceptsGzip('gzip, deflate, br')).toBe(true)
  expect(acceptsGzip('br;q=1, gzip;q=0.2')).toBe(true)
  for (const no of [undefined, 'br', 'gzip;q=0', 'xgzip']) expect(acceptsGzip(no), no).toBe(false)
})
