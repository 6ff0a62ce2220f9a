import { describe, expect, test } from 'vitest'
import { type LastSignature, openWatermark, type SignPosition } from '../../../../src/consensus/wal/watermark.ts'
import { MemoryFiles } from '../../../support/consensus/memory-files.ts'

const mark = (number: number, round: number, step: SignPosition['step'], fill = number): LastSignature => ({
  number,
  round,
  step,
  digest: new Uint8Array(32).fill(fill),
  signature: new Uint8Array(65).fill(fill + 1),
})

const save = async (files: MemoryFiles, marks: readonly LastSignature[]) => {
  const watermark = await openWatermark(files, 'w')
  for (const entry of marks) {
    watermark.advance(entry)
    await watermark.take()()
  }
  await watermark.close()
}

describe('the watermark', () => {
  const refused = expect.objectContaining({ code: 'SIGNING_REFUSED' })

  test('rises in the order round change, proposal, prepare, commit; then the next round; then the next height', async () => {
    const watermark = await openWatermark(new MemoryFiles(), 'w')
    const order: SignPosition[] = [
      { number: 5, round: 0, step: 'proposal' },
      { number: 5, round: 0, step: 'prepare' },
      { number: 5, round: 0, step: 'commit' },
      { number: 5, round: 1, step: 'roundChange' },
      { number: 5, round: 1, step: 'prepare' },
      { number: 5, round: 7, step: 'roundChange' },
      { number: 6, round: 0, step: 'prepare' },
    ]
    const digest = new Uint8Array(32)
    for (const [at, position] of order.entries()) {
      expect(watermark.check(position, digest)).toBeNull()
      watermark.advance({ ...position, digest, signature: new Uint8Array(65) })
      for (const earlier of order.slice(0, at)) expect(() => watermark.check(earlier, digest)).toThrow(refused)
    }
  })

  test('the same thing at the same place gets the same signature, another thing none', async () => {
    const files = new MemoryFiles()
    await save(files, [mark(5, 0, 'commit')])
    const watermark = await openWatermark(files, 'w')
    const { digest, signature } = mark(5, 0, 'commit')
    expect(watermark.check({ number: 5, round: 0, step: 'commit' }, digest)).toEqual(signature)
    expect(() => watermark.check({ number: 5, round: 0, step: 'commit' }, new Uint8Array(32))).toThrow(refused)
  })

  test('survives reopening', async () => {
    const files = new MemoryFiles()
    await save(files, [mark(1, 0, 'commit'), mark(2, 3, 'roundChange'), mark(2 ** 40, 2 ** 33, 'prepare', 9)])
    const watermark = await openWatermark(files, 'w')
    expect(watermark.condition).toBe('sound')
    expect(watermark.last).toEqual(mark(2 ** 40, 2 ** 33, 'prepare', 9))
  })

  test('a write torn at any byte leaves the mark before it', async () => {
    const files = new MemoryFiles()
    await save(files, [mark(1, 0, 'commit'), mark(2, 0, 'commit')])
    for (let cut = 0; cut <= 127; cut++) {
      const torn = files.copy()
      const watermark = await openWatermark(torn, 'w')
      watermark.advance(mark(3, 0, 'commit'))
      torn.crashAt(torn.operations + 3)
      await expect(watermark.take()()).rejects.toThrow()
      torn.recover(bytes => bytes.subarray(0, cut))
      const after = await openWatermark(torn, 'w')
      expect(after.condition).toBe('sound')
      expect(after.last?.number).toBe(cut === 127 ? 3 : 2)
    }
  })

  test('a crash at any moment of its first write leaves a new one or a sound one', async () => {
    for (let operation = 1; operation <= 6; operation++) {
      const files = new MemoryFiles()
      const watermark = await openWatermark(files, 'w')
      watermark.advance(mark(1, 0, 'proposal'))
      files.crashAt(files.operations + operation)
      await watermark
        .take()()
        .catch(() => undefined)
      files.recover()
      const after = await openWatermark(files, 'w')
      expect(['missing', 'sound']).toContain(after.condition)
    }
  })

  test('damage of both slots is an error', async () => {
    const files = new MemoryFiles()
    await save(files, [mark(1, 0, 'commit')])
    const content = files.content('w')!
    content[10]! ^= 1
    content[4096 + 10]! ^= 1
    files.put('w', content)
    expect((await openWatermark(files, 'w')).condition).toBe('corrupt')
  })

  test('a mark made while another is written is not written with it', async () => {
    const files = new MemoryFiles()
    const watermark = await openWatermark(files, 'w')
    watermark.advance(mark(1, 0, 'proposal'))
    const write = watermark.take()
    watermark.advance(mark(1, 0, 'prepare'))
    await write()
    expect(watermark.isDirty).toBe(true)
    expect((await openWatermark(files.copy(), 'w')).last?.step).toBe('proposal')
  })
})
