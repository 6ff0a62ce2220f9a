import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type EVMBLSInterface, paramsEVM } from '@ethereumjs/evm'
import { expect, test } from 'vitest'
import { createCommon } from '../../../../src/evm/engines/ethereumjs/common.ts'
import { ethereumJsPrecompile } from '../../../../src/evm/engines/precompiles/ethereumjs-precompile.ts'
import { clockOfInput, inputWithBls, pacedInput } from '../../../../src/evm/engines/precompiles/precompile-input.ts'
import { paramsAt } from '../world.ts'

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url))
const { version } = JSON.parse(readFileSync(join(ROOT, 'node_modules/@ethereumjs/evm/package.json'), 'utf8'))

const common = createCommon(paramsAt('prague'), 'prague')
common.updateParams(paramsEVM)
const NAMES = ['addG1', 'msmG1', 'addG2', 'msmG2', 'pairingCheck', 'mapFPtoG1', 'mapFP2toG2'] as const
/** Smallest valid inputs of 0x0b to 0x11, bytes. */
const SIZES = [256, 160, 512, 288, 384, 64, 128]

test.each(NAMES.map((name, at) => [name, at] as const))(
  `@ethereumjs/evm ${version} calls %s of the library in its input: src/evm/engines/precompiles/precompile-input.ts`,
  async (name, at) => {
    const answer = Uint8Array.of(7)
    const bls: Partial<EVMBLSInterface> = { [name]: () => answer }
    const input = { data: new Uint8Array(SIZES[at] as number), gasLimit: 1_000_000n, common, ...pacedInput(noClock) }
    const result = await ethereumJsPrecompile(common, 0x0b + at)(inputWithBls(input, bls))
    expect(result.returnValue).toEqual(answer)
  },
)

const noClock = { check: () => undefined }

test('an input carries the clock', () => {
  expect(clockOfInput(pacedInput(noClock))).toBe(noClock)
})

test('no other source file names the private members', () => {
  const src = join(ROOT, 'src')
  const naming = readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter(path => path.endsWith('.ts') && !path.includes('assembly/'))
    .filter(path => /\b_EVM\b|\b_bls\b/.test(readFileSync(join(src, path), 'utf8')))
  expect(naming).toEqual([join('evm', 'engines', 'precompiles', 'precompile-input.ts')])
})
