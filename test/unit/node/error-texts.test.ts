import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Hex } from '@tandem/base/bytes.ts'
import { Interface } from 'ethers'
import { expect, test } from 'vitest'
import { createErrorTexts } from '../../../src/node/dev/terminal-log.ts'
import { withTempDir } from '../../support/devnet.ts'

const ABI = [
  'error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)',
  'error NotOwner()',
  'error Refused(string reason, (uint256 id, bytes data)[] items)',
]
const encoder = new Interface(ABI)
const encoded = (name: string, values: readonly unknown[]): Hex => encoder.encodeErrorResult(name, values) as Hex

test('errors of common libraries are named', async () => {
  const sender = `0x${'11'.repeat(20)}`
  expect(await createErrorTexts(undefined)(encoded('ERC20InsufficientBalance', [sender, 1, 2]))).toBe(
    `ERC20InsufficientBalance(${sender}, 1, 2)`,
  )
  expect(await createErrorTexts(undefined)(encoded('NotOwner', []))).toBeUndefined()
})

test('errors of a folder are named, also of files that come later', () =>
  withTempDir(async dir => {
    const texts = createErrorTexts(join(dir, 'out'))
    const refused = encoded('Refused', ['no', [[7, '0x1234']]])
    await expect(texts(refused)).rejects.toThrow('ENOENT')
    mkdirSync(join(dir, 'out/A.sol'), { recursive: true })
    writeFileSync(join(dir, 'out/broken.json'), '{')
    writeFileSync(join(dir, 'out/A.sol/A.json'), JSON.stringify({ abi: JSON.parse(encoder.formatJson()) }))
    expect(await texts(encoded('NotOwner', []))).toBe('NotOwner()')
    expect(await texts(refused)).toBe('Refused("no", [[7, 0x1234]])')
    expect(await texts(refused.slice(0, 80) as Hex), 'cut short').toBeUndefined()
  }))
