import { readFileSync } from 'node:fs'
import { type Hex, hexToBytes, ZERO_HASH } from '@tandem/base/bytes.ts'
import { describe, expect, test } from 'vitest'
import { gethGenesisBlock, parseGethGenesis } from '../../../../devtools/recorded/geth-genesis.ts'
import { evmForkAt } from '../../../../src/config/forks.ts'
import { decodeHeader, headerHash } from '../../../../src/primitives/header.ts'
import { GENESIS_PATH, recordedGenesis } from '../../../support/recorded/chain.ts'
import recorded from '../../primitives/fixtures/execution-apis.json' with { type: 'json' }

const address = (byte: string): Hex => `0x${byte.repeat(20)}`

describe('a genesis of geth', () => {
  const genesis = recordedGenesis()

  test('makes the block 0 that other clients answer', () => {
    const header = decodeHeader(hexToBytes(recorded.rawGenesisHeader as Hex))
    expect(gethGenesisBlock(genesis, header.stateRoot).hash).toBe(headerHash(header))
  })

  test('gives forks by block and by time', () => {
    expect(genesis.params.chainId).toBe(3_503_995_874_084_926)
    expect([2, 5, 6, 26, 27, 35, 36].map(number => evmForkAt(genesis.params.forks, number))).toEqual([
      'homestead',
      'tangerineWhistle',
      'spuriousDragon',
      'berlin',
      'london',
      'london',
      'paris',
    ])
    expect(genesis.terminalTotalDifficulty).toBe(4_732_352n)
    expect(genesis.timeForks[0]).toEqual({ name: 'shanghai', time: 390 })
    expect(genesis.alloc.size).toBe(Object.keys(JSON.parse(readFileSync(GENESIS_PATH, 'utf8')).alloc).length)
  })

  const geth = (config: object, change: object = {}) =>
    parseGethGenesis(JSON.stringify({ config: { chainId: 1, ...config }, gasLimit: '0x1000', alloc: {}, ...change }))
  const allForks = { londonBlock: 0, terminalTotalDifficulty: 0, shanghaiTime: 0, cancunTime: 0, pragueTime: 0 }

  test('has the members of the forks active at its own time', () => {
    const { header } = gethGenesisBlock(geth(allForks), ZERO_HASH)
    expect(header).toMatchObject({ baseFeePerGas: 1_000_000_000n, blobGasUsed: 0n, excessBlobGas: 0n })
    expect(header.requestsHash).toBeDefined()
    const early = gethGenesisBlock(geth({ ...allForks, pragueTime: 5 }), ZERO_HASH)
    expect(early.header.requestsHash).toBeUndefined()
    const frontier = gethGenesisBlock(geth({}, { blobGasUsed: '0x0' }), ZERO_HASH)
    expect(frontier.header.baseFeePerGas).toBeUndefined()
  })

  test('reads amounts and addresses as other clients write them', () => {
    const { alloc } = geth(
      {},
      {
        alloc: {
          ['ab'.repeat(20)]: { balance: 5, nonce: '0x1' },
          [address('cd')]: { balance: '7', nonce: '0xfffffffffffffffe' },
        },
      },
    )
    expect(alloc.get(address('ab'))).toMatchObject({ balance: 5n, nonce: 1 })
    expect(alloc.get(address('cd'))).toMatchObject({ balance: 7n, nonce: 2n ** 64n - 2n })
  })

  test('is refused for a fork this binary does not know', () => {
    expect(() => geth({ verkleTime: 5 })).toThrow(
      expect.objectContaining({
        detail: {
          code: 'GENESIS_INVALID',
          path: 'config.verkleTime',
          problem: 'a fork this binary does not know: use a newer one, or take the line out',
        },
      }),
    )
    expect(geth({ ethash: {}, clique: { period: 1 } }).params.chainId).toBe(1)
  })

  test('is refused in the form of this network', () => {
    expect(() => parseGethGenesis('{"format":"tandem/1"}')).toThrow(/follows a genesis in the form of geth/)
  })
})
