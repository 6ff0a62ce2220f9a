import { isoDay, isoTime } from '@tandem/web/times.ts'
import { expect, test } from 'vitest'

test('times are those of Date up to the year 9999, and go on behind it', () => {
  for (const timestamp of [0, 951_782_400, 1_735_689_600, 4_107_542_400, 253_402_300_799])
    expect(isoTime(timestamp)).toBe(new Date(timestamp * 1_000).toISOString())
  expect(isoTime(253_402_300_800)).toBe('10000-01-01T00:00:00.000Z')
  // The last one that Date has.
  expect(isoTime(8_640_000_000_000)).toBe('275760-09-13T00:00:00.000Z')
  expect(isoTime(2 ** 53)).toMatch(/^\d{9}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/)
  expect(isoDay(0)).toBe('1970-01-01')
  expect(isoDay(2_932_896)).toBe('9999-12-31')
  expect(isoDay(2_932_897)).toBe('10000-01-01')
})
