import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readLabels } from '@tandem/explorer/service/label-file.ts'
import { expect, onTestFinished, test } from 'vitest'

const BRIDGE = `0x${'Ab'.repeat(20)}`

const fileOf = (text: string): string => {
  const dir = mkdtempSync(join(tmpdir(), 'tandem-labels-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const path = join(dir, 'labels.json')
  writeFileSync(path, text)
  return path
}

test('names of addresses are read from a file, without invisible characters and cut', () => {
  expect(readLabels(undefined)).toEqual([])
  expect(readLabels(fileOf('{}'))).toEqual([])
  const other = `0x${'12'.repeat(20)}`
  expect(
    readLabels(fileOf(JSON.stringify({ [BRIDGE]: ' Bri\u202edge\u0000 ', [other]: 'x'.repeat(1_000_000) }))),
  ).toEqual([
    { address: BRIDGE.toLowerCase(), name: 'Bridge' },
    { address: other, name: 'x'.repeat(64) },
  ])
})

test('a file that cannot be used is refused with its path and the reason', () => {
  const many = Object.fromEntries(
    Array.from({ length: 100_001 }, (_, at) => [`0x${at.toString(16).padStart(40, '0')}`, 'x']),
  )
  const cases: readonly (readonly [string, RegExp])[] = [
    ['{', /JSON/],
    ['[]', /an object of names by address/],
    ['null', /an object of names by address/],
    ['{"0x12": "Bridge"}', /0x12 is no address/],
    [`{"${BRIDGE}": 7}`, /the name of 0xAb\w+ is no text/],
    [`{"${BRIDGE}": "\\u200b"}`, /is no text/],
    [JSON.stringify(many), /at most 100000 labels/],
  ]
  for (const [text, reason] of cases) {
    const path = fileOf(text)
    expect(() => readLabels(path), text.slice(0, 40)).toThrow(
      expect.objectContaining({ detail: { code: 'LABEL_FILE_INVALID', path, reason: expect.stringMatching(reason) } }),
    )
  }
  expect(() => readLabels('/nonexistent/labels.json')).toThrow('LABEL_FILE_INVALID')
})
