import { describe, expect, test } from 'vitest'
import { exportWatermark, importWatermark } from '../../../src/consensus/interchange.ts'
import { checkMark, openWatermark, type SignedMark, type SignPosition } from '../../../src/consensus/watermark.ts'
import type { Hex } from '../../../src/util/bytes.ts'
import { DOMAIN } from '../../support/consensus/member.ts'
import { MemoryFiles } from '../../support/consensus/memory-files.ts'

const KEY: Hex = `0x${'ab'.repeat(20)}`
const OTHER: Hex = `0x${'cd'.repeat(20)}`
const mark = (number: number, round: number, step: SignPosition['step']): SignedMark => ({
  number,
  round,
  step,
  digest: new Uint8Array(32).fill(number),
  signature: new Uint8Array(65).fill(round + 1),
})
const import_ = (text: string, last: SignedMark | null = null) => importWatermark(text, DOMAIN, KEY, last)

/** The export of a mark, parts of its JSON replaced. */
const changed = (parts: { metadata?: object; key?: object; others?: readonly object[] }) => {
  const { metadata, data } = JSON.parse(exportWatermark(DOMAIN, KEY, mark(7, 2, 'prepare')))
  const keys = [{ ...data[0], ...parts.key }, ...(parts.others ?? [])]
  return JSON.stringify({ metadata: { ...metadata, ...parts.metadata }, data: keys })
}
const signed = (...entries: readonly object[]) => changed({ key: { signed: entries } })
const entry = (height: string, round = '0', step = 'commit') => ({ height, round, step })

describe('the watermark as a file that moves with its key', () => {
  test('comes back as it was, with strings for numbers', () => {
    const last = mark(2 ** 40, 2 ** 33, 'commit')
    const text = exportWatermark(DOMAIN, KEY, last)
    expect(import_(text)).toEqual(last)
    expect(JSON.parse(text)).toMatchObject({
      metadata: { format: '1', chainId: '1998999', genesisHash: DOMAIN.genesisHash },
      data: [{ address: KEY, signed: [{ height: String(2 ** 40), round: String(2 ** 33), step: 'commit' }] }],
    })
  })

  test('a key that never signed says so, and lowers nothing', () => {
    const text = exportWatermark(DOMAIN, KEY, null)
    expect(import_(text)).toBeNull()
    expect(import_(text, mark(3, 0, 'commit'))).toEqual(mark(3, 0, 'commit'))
  })

  test('the highest position of all counts, also the one there was', () => {
    const upperCase = KEY.toUpperCase().replace('0X', '0x')
    const text = changed({
      key: { signed: [entry('5', '9', 'roundChange'), entry('6'), entry('6', '1', 'roundChange'), entry('2')] },
      others: [
        { address: OTHER, signed: [entry('99')] },
        { address: upperCase, signed: [entry('4')] },
      ],
    })
    expect(import_(text)).toMatchObject({ number: 6, round: 1, step: 'roundChange' })
    expect(import_(text, mark(6, 0, 'commit'))).toMatchObject({ number: 6, round: 1 })
    expect(import_(text, mark(6, 1, 'proposal'))).toEqual(mark(6, 1, 'proposal'))
    expect(import_(text, mark(6, 1, 'roundChange'))).toEqual(mark(6, 1, 'roundChange'))
  })

  test('what is imported holds: only the very same statement is signed again, and only if its signature came along', async () => {
    const last = mark(7, 2, 'prepare')
    const files = new MemoryFiles()
    const watermark = await openWatermark(files, 'w')
    watermark.advance(import_(exportWatermark(DOMAIN, KEY, last))!)
    await watermark.take()()
    const after = await openWatermark(files, 'w')
    expect(after.check(last, last.digest)).toEqual(last.signature)
    const refused = expect.objectContaining({ code: 'SIGNING_REFUSED' })
    expect(() => after.check(last, new Uint8Array(32))).toThrow(refused)
    expect(() => after.check({ ...last, step: 'proposal' }, last.digest)).toThrow(refused)
    const bare = import_(signed(entry('7', '2', 'prepare')))
    expect(() => checkMark(bare, last, last.digest)).toThrow(refused)
    expect(checkMark(bare, { ...last, step: 'commit' }, last.digest)).toBeNull()
  })

  test.each<[string, string, string]>([
    ['no JSON', '{', 'INTERCHANGE_MALFORMED'],
    ['a list', '[]', 'INTERCHANGE_MALFORMED'],
    ['null', 'null', 'INTERCHANGE_MALFORMED'],
    ['too much', ' '.repeat(2 ** 20 + 1), 'INTERCHANGE_MALFORMED'],
    ['another format', changed({ metadata: { format: '2' } }), 'INTERCHANGE_MALFORMED'],
    ['another chain', changed({ metadata: { chainId: '1' } }), 'INTERCHANGE_FOREIGN_CHAIN'],
    ['another genesis', changed({ metadata: { genesisHash: `0x${'22'.repeat(32)}` } }), 'INTERCHANGE_FOREIGN_CHAIN'],
    ['another key', changed({ key: { address: OTHER } }), 'INTERCHANGE_OTHER_KEY'],
    ['no keys', JSON.stringify({ ...JSON.parse(signed()), data: [] }), 'INTERCHANGE_OTHER_KEY'],
    ['a bare number', signed({ ...entry('7'), height: 7 }), 'INTERCHANGE_MALFORMED'],
    ['a negative one', signed(entry('-7')), 'INTERCHANGE_MALFORMED'],
    ['one beyond exactness', signed(entry('9999999999999999')), 'INTERCHANGE_MALFORMED'],
    ['an unknown step', signed(entry('7', '0', 'toString')), 'INTERCHANGE_MALFORMED'],
    ['a short root', signed({ ...entry('7'), signingRoot: '0x00', signature: '0x' }), 'INTERCHANGE_MALFORMED'],
    ['no list', changed({ key: { signed: {} } }), 'INTERCHANGE_MALFORMED'],
  ])('%s is refused', (_, text, code) => {
    expect(() => import_(text)).toThrow(expect.objectContaining({ code }))
  })
})
