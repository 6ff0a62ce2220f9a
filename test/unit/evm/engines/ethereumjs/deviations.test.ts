import { bytesToHex, EMPTY_BYTES, type Hex, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { describe, expect, test } from 'vitest'
import { createInterpreter } from '../../../../../devtools/interpreter/engine.ts'
import { keccak256Hex } from '../../../../../src/crypto/hash.ts'
import type { EngineMessage } from '../../../../../src/evm/engine.ts'
import { hasBlobVersions } from '../../../../../src/evm/engines/ethereumjs/deviations.ts'
import { createExecutor } from '../../../../../src/evm/engines/executor.ts'
import { createWasmEngine } from '../../../../../src/evm/engines/wasm/wasm-engine.ts'
import type { ExecutionMode } from '../../../../../src/evm/executor-types.ts'
import { Journal } from '../../../../../src/state/journal/journal.ts'
import { withDevNode } from '../../../../support/dev-node.ts'
import { createStepOracle } from '../../../../support/step-oracle.ts'
import { env, funded, key, messageTo, paramsAt, signed, withCode } from '../../world.ts'

/* Deviations of EthereumJS from Ethereum, on every way to run code; and EthereumJS as it comes, so that the list says no more than is true. */

const sender = key(1)
const TARGET: Hex = `0x${'cc'.repeat(20)}`
const OBJECT: Hex = `0x${'0e'.repeat(20)}`
const OBJECT_CODE: Hex = '0xef00010203'
const GAS = 500_000n

interface Deviation {
  readonly code: string
  readonly message?: Partial<EngineMessage>
  readonly output: Hex
  readonly failure: 'revert' | null
  readonly burnsAll?: boolean
  /** Nonce of the target afterwards; 1 before. */
  readonly nonce?: number
}

const words = (...values: readonly (bigint | Hex)[]): Hex =>
  `0x${values.map(value => toWord(BigInt(value)).slice(2)).join('')}`

/** Makes two bytes of return data, creates with the init code, then returns the result and the size of the return data. */
const creating = (init: string, opcode: 'f0' | 'f5'): string => {
  const size = init.length / 2
  const push = `${(0x5f + size).toString(16)}${init}5f52`
  const salt = opcode === 'f5' ? '5f' : ''
  const arguments_ = `60${size.toString(16).padStart(2, '0')}60${(32 - size).toString(16).padStart(2, '0')}5f`
  return `5f5f60025f60045afa50${push}${salt}${arguments_}${opcode}5f523d60205260405ff3`
}

/** Puts OBJECT on the stack. */
const OBJECT_WORD = `73${OBJECT.slice(2)}`

const DEVIATIONS: Readonly<Record<string, Deviation>> = {
  'CREATE whose init code reverts with 0xef': {
    code: creating('60ef5f5360015ffd', 'f0'),
    output: words(0n, 1n),
    failure: null,
    nonce: 2,
  },
  'CREATE2 whose init code reverts with 0xef': {
    code: creating('60ef5f5360015ffd', 'f5'),
    output: words(0n, 1n),
    failure: null,
    nonce: 2,
  },
  'a transaction whose init code reverts with a selector of 0xef': {
    code: '00',
    message: { to: null, data: hexToBytes('0x63ef1234565f526004601cfd') },
    output: '0xef123456',
    failure: 'revert',
  },
  'CREATE of init code that begins with 0xef00': {
    code: creating('ef00', 'f0'),
    output: words(0n, 0n),
    failure: null,
    burnsAll: true,
    nonce: 2,
  },
  'CREATE2 of init code that begins with 0xef00': {
    code: creating('ef00010203', 'f5'),
    output: words(0n, 0n),
    failure: null,
    burnsAll: true,
    nonce: 2,
  },
  'an access to a precompile that the network does not have': {
    // Gas of PUSH1 0x0a BALANCE POP GAS.
    code: '5a600a31505a90035f5260205ff3',
    output: words(2_607n),
    failure: null,
  },
  'EXTCODESIZE of code that begins with 0xef00': {
    code: `${OBJECT_WORD}3b5f5260205ff3`,
    output: words(5n),
    failure: null,
  },
  'EXTCODECOPY of code that begins with 0xef00': {
    code: `600860015f${OBJECT_WORD}3c60205ff3`,
    output: `0x00010203${'00'.repeat(28)}`,
    failure: null,
  },
  'EXTCODEHASH of code that begins with 0xef00': {
    code: `${OBJECT_WORD}3f5f5260205ff3`,
    output: keccak256Hex(hexToBytes(OBJECT_CODE)),
    failure: null,
  },
}

const worldOf = (code: string) => {
  const state = withCode(funded([sender]), TARGET, hexToBytes(`0x${code}`))
  return withCode(state, OBJECT, hexToBytes(OBJECT_CODE))
}

const interpreter = createInterpreter()
const ENGINES = [interpreter, createWasmEngine(() => interpreter), createStepOracle({ records: false })]

describe.each(Object.entries(DEVIATIONS))('%s', (_, { code, message = {}, output, failure, burnsAll, nonce = 1 }) => {
  const fork = paramsAt('osaka')
  const block = env({ params: fork })
  const run = async (engine: (typeof ENGINES)[number]) => {
    const state = worldOf(code)
    // The sender's nonce is raised before a message.
    const account = state.accounts.get(sender.address)
    if (account !== undefined) account.nonce = 1
    const journal = new Journal(state)
    const result = await engine.run(journal, block, messageTo(TARGET, GAS, sender, message))
    return {
      output: bytesToHex(result.output),
      failed: result.failure !== null,
      burnsAll: result.gasUsed > (GAS * 9n) / 10n,
      nonce: journal.nonce(TARGET),
    }
  }
  const right = { output, failed: failure !== null, burnsAll: burnsAll ?? false, nonce }

  test.each(ENGINES)('$name', async engine => {
    expect(await run(engine)).toEqual(right)
  })

  test('EthereumJS as it comes differs', async () => {
    expect(await run(createStepOracle({ records: false, asItComes: true }))).not.toEqual(right)
  })

  test.each<ExecutionMode>(['wasm', 'ethereumjs', 'shadow'])('a block in mode %s', async mode => {
    const journal = new Journal(worldOf(code))
    const tx = signed(sender, {
      to: message.to === null ? null : TARGET,
      gasLimit: GAS,
      data: message.data ?? EMPTY_BYTES,
    })
    const { receipts } = await createExecutor({ mode, logger: silentLogger }).execute(journal, block, [tx])
    expect(receipts[0]?.status).toBe(failure === null ? 1 : 0)
    expect((receipts[0]?.gasUsed ?? 0n) > (GAS * 9n) / 10n).toBe(right.burnsAll)
    expect(journal.nonce(TARGET)).toBe(nonce)
  })
})

test('only 0x01 is the version of a blob hash', () => {
  const withHash = (first: string) => ({
    ...signed(sender),
    blobVersionedHashes: [`0x${first}${'00'.repeat(31)}` as Hex],
  })
  expect(hasBlobVersions(withHash('01'))).toBe(true)
  expect(hasBlobVersions(withHash('1a'))).toBe(false)
  expect(hasBlobVersions(signed(sender))).toBe(false)
})

test('a call whose creation reverts with a selector of 0xef returns its reason, in every thread', () =>
  withDevNode(async ask => {
    const call = { data: '0x63ef1234565f526004601cfd' }
    const reverted = { rpcCode: 3, data: '0xef123456' }
    await expect(ask('eth_call', call, 'latest')).rejects.toMatchObject(reverted)
    await expect(ask('eth_call', call, 'latest', { [OBJECT]: { nonce: '0x1' } })).rejects.toMatchObject(reverted)
    await expect(ask('eth_estimateGas', call)).rejects.toMatchObject(reverted)
  }))
