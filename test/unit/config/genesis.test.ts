import { type Hex, ZERO_ADDRESS, ZERO_HASH } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import { describe, expect, test } from 'vitest'
import { ethereumGas } from '../../../devtools/ethereum-params.ts'
import { genesisBlock } from '../../../src/chain/write-genesis.ts'
import { evmForkAt, isActive } from '../../../src/config/forks.ts'
import { type GenesisError, parseGenesis } from '../../../src/config/genesis/genesis.ts'
import { NETWORKS } from '../../../src/config/networks.ts'
import { decodeExtraData } from '../../../src/primitives/consensus/extra-data.ts'
import { nextBaseFee } from '../../../src/rules/money/base-fee.ts'

const address = (byte: string): Hex => `0x${byte.repeat(20)}`
const member = { name: 'one', validator: address('11'), reward: address('12'), stake: '35000000000000000000' }
const document = {
  format: 'tandem/1',
  network: 'devnet',
  timestamp: 1_700_000_000,
  council: [member],
  foundation: address('f0'),
  alloc: {
    [address('Aa')]: { balance: '1000' },
    [address('bb')]: { balance: '0x10', nonce: 3, code: '0x6001', storage: { '0x1': '0x2a', '0x02': '0x0' } },
  },
}
type Document = typeof document & { readonly [member: string]: unknown }
const parse = (change: object = {}) => parseGenesis(JSON.stringify({ ...document, ...change }))
const errorOf = (run: () => unknown): GenesisError | undefined => {
  try {
    run()
  } catch (error) {
    if (error instanceof CodedError && error.code === 'GENESIS_INVALID') return error.detail as GenesisError
    throw error
  }
  return undefined
}
const pathOf = (change: object): string | undefined => errorOf(() => parse(change))?.path

describe('a genesis of our own format', () => {
  test('gives parameters, council and accounts', () => {
    const genesis = parse()
    expect(genesis.params).toEqual(NETWORKS.devnet)
    expect(genesis.council).toEqual([
      // The owner defaults to the validator.
      {
        name: 'one',
        validator: address('11'),
        owner: address('11'),
        reward: address('12'),
        admission: 1,
        stakeWei: 35n * 10n ** 18n,
      },
    ])
    expect([...genesis.alloc.keys()]).toEqual([address('aa'), address('bb')])
    expect(genesis.alloc.get(address('bb'))).toEqual({
      balance: 16n,
      nonce: 3,
      code: Uint8Array.of(0x60, 1),
      storage: new Map([[`0x${'0'.repeat(63)}1`, `0x${'0'.repeat(62)}2a`]]),
    })
  })

  test('overrides parameters one by one', () => {
    const { params } = parse({
      chainId: 77,
      params: {
        blockTimeMs: 0,
        calldataGasPerByte: null,
        precompilePrices: null,
        baseFee: { lowerBoundWei: '2' },
        forks: { prague: 10, osaka: 11, nativeHash: null },
      },
    })
    expect(params).toMatchObject({
      chainId: 77,
      networkId: 77,
      blockTimeMs: 0,
      calldataGasPerByte: null,
      precompilePrices: null,
    })
    expect(params.baseFee).toEqual({ ...NETWORKS.devnet.baseFee, lowerBoundWei: 2n })
    expect([9, 10, 11].map(number => evmForkAt(params.forks, number))).toEqual(['cancun', 'prague', 'osaka'])
    expect(isActive(params.forks, 'nativeHash', 1_000_000)).toBe(false)
  })

  test("takes Ethereum's gas as a whole", () => {
    const genesis = parse({
      params: {
        blockGasLimit: '60000000',
        maxTxExecutionGas: null,
        calldataGasPerByte: null,
        precompilePrices: null,
        baseFee: { rule: 'eip1559' },
      },
    })
    const { params } = genesis
    const { header } = genesisBlock(genesis, ZERO_HASH)
    expect(params).toMatchObject(ethereumGas(60_000_000n))
    expect([header.gasLimit, header.baseFeePerGas]).toEqual([60_000_000n, 1_000_000_000n])
    expect(
      [0, 1].map(gasUsed => nextBaseFee({ ...header, gasUsed: 60_000_000n * BigInt(gasUsed) }, params.baseFee)),
    ).toEqual([875_000_000n, 1_125_000_000n])
  })

  test('a fork that it does not name keeps its height, but waits for the one before it', () => {
    const forks = (given: object) =>
      [0, 5, 9].map(number => evmForkAt(parse({ params: { forks: given } }).params.forks, number))
    expect(forks({})).toEqual(['osaka', 'osaka', 'osaka'])
    expect(forks({ prague: 5 })).toEqual(['cancun', 'osaka', 'osaka'])
    expect(forks({ prague: null })).toEqual(['cancun', 'cancun', 'cancun'])
    expect(forks({ osaka: 9 })).toEqual(['prague', 'prague', 'osaka'])
  })

  test('sets the terms of the council, and has development helpers where the network has them and it wants them', () => {
    const { council } = parse({ params: { council: { unbondingSeconds: 5 } } }).params
    expect(council).toEqual({ ...NETWORKS.devnet.council, unbondingSeconds: 5 })
    const helpers = (change: object) => parse(change).params.devHelpers
    expect([{}, { params: { devHelpers: false } }].map(helpers)).toEqual([true, false])
    const stake = (35_000_000n * 10n ** 18n).toString()
    const mainnet = { network: 'mainnet', council: [{ ...member, stake }], params: { devHelpers: true } }
    expect(helpers(mainnet)).toBe(false)
  })

  test.each<[string, string, object]>([
    ['an unknown member', 'extra', { extra: 1 }],
    ['an unknown parameter', 'params.blockTime', { params: { blockTime: 1 } }],
    ['an unknown parameter of a parameter', 'params.rewards.cycle', { params: { rewards: { cycle: 1 } } }],
    [
      'an unknown member of an account',
      `alloc.${address('aa')}.ballance`,
      { alloc: { [address('aa')]: { balance: '1', ballance: '1' } } },
    ],
    ['prices of its own', 'params.precompilePrices', { params: { precompilePrices: {} } }],
    ['an unknown fork', 'params.forks.verkle', { params: { forks: { verkle: 1 } } }],
    ['another version', 'format', { format: 'tandem/2' }],
    ['an unknown network', 'network', { network: 'mainnet2' }],
    ['another chain id of a public network', 'chainId', { network: 'mainnet', chainId: 5 }],
    ['a chain id that legacy signatures cannot hold', 'chainId', { chainId: 4_503_599_627_370_476 }],
    ['a fraction of a second', 'timestamp', { timestamp: 1.5 }],
    ['no council', 'council', { council: [] }],
    [
      'a validator twice',
      'council[1]',
      { council: [member, { ...member, validator: member.validator.toUpperCase().replace('0X', '0x') }] },
    ],
    ['a validator without reward address', 'council[0]', { council: [{ ...member, reward: undefined }] }],
    [
      'an owner twice',
      'council[1]',
      { council: [member, { ...member, validator: address('13'), owner: address('11') }] },
    ],
    [
      'more validators than the contract seats',
      'council',
      {
        council: Array.from({ length: 257 }, (_, index) => ({
          ...member,
          validator: `0x${(index + 1).toString(16).padStart(40, '0')}`,
        })),
      },
    ],
    ['a long name', 'council[0].name', { council: [{ ...member, name: 'n'.repeat(33) }] }],
    ['a stake beyond measure', 'council[0].stake', { council: [{ ...member, stake: (2n ** 129n).toString() }] }],
    [
      'an account in place of the contract',
      'alloc',
      { alloc: { '0x0000000000000000000000000000000000000400': { balance: '1' } } },
    ],
    ['a word for a truth', 'params.council.openRegistration', { params: { council: { openRegistration: 'no' } } }],
    ['no window at all', 'params.council.inactiveBlocks', { params: { council: { inactiveBlocks: 0 } } }],
    ['an unknown term', 'params.council.minStake', { params: { council: { minStake: 1 } } }],
    ['too little stake', 'council[0].stake', { council: [{ ...member, stake: '1' }] }],
    ['a zero foundation', 'foundation', { foundation: ZERO_ADDRESS }],
    ['a short address', 'foundation', { foundation: '0x12' }],
    ['a balance as a number', `alloc.${address('aa')}.balance`, { alloc: { [address('aa')]: { balance: 1000 } } }],
    ['a negative balance', `alloc.${address('aa')}.balance`, { alloc: { [address('aa')]: { balance: '-1' } } }],
    [
      'a balance above 256 bits',
      `alloc.${address('aa')}.balance`,
      { alloc: { [address('aa')]: { balance: (2n ** 256n).toString() } } },
    ],
    [
      'an address twice',
      `alloc.${address('AA')}`,
      { alloc: { [address('aa')]: { balance: '1' }, [address('AA')]: { balance: '1' } } },
    ],
    [
      'a slot twice',
      `alloc.${address('aa')}.storage.0x01`,
      { alloc: { [address('aa')]: { balance: '1', storage: { '0x1': '0x1', '0x01': '0x1' } } } },
    ],
    [
      'code of half bytes',
      `alloc.${address('aa')}.code`,
      { alloc: { [address('aa')]: { balance: '1', code: '0x123' } } },
    ],
    ['long vanity', 'extraVanity', { extraVanity: `0x${'00'.repeat(33)}` }],
    ['forks out of order', 'params.forks', { params: { forks: { prague: 5, osaka: 4 } } }],
    ['a fork after one that never comes', 'params.forks', { params: { forks: { prague: null, osaka: 4 } } }],
    ['another rule of the base fee', 'params.baseFee.rule', { params: { baseFee: { rule: 'kip71' } } }],
    [
      'bounds of a rule without',
      'params.baseFee.denominator',
      { params: { baseFee: { rule: 'eip1559', denominator: '8' } } },
    ],
    ['a floor above the ceiling', 'params.baseFee', { params: { baseFee: { lowerBoundWei: '751000000000' } } }],
    [
      'bounds that evenness crosses',
      'params.baseFee',
      { params: { baseFee: { lowerBoundWei: '3', upperBoundWei: '3' } } },
    ],
    ['no gas target', 'params.baseFee.gasTarget', { params: { baseFee: { gasTarget: '0' } } }],
    ['shares above the whole', 'params.feeShares', { params: { feeShares: { minerPercent: 71 } } }],
    ['rewards above the whole', 'params.rewards', { params: { rewards: { unionPercent: 61 } } }],
    ['a cut that raises', 'params.rewards', { params: { rewards: { halvingNumerator: 10_001 } } }],
    ['a bound above the block limit', 'params', { params: { blockGasLimit: '1000' } }],
    ['a bound on transactions above that on blocks', 'params', { params: { maxBlockExecutionGas: '99999999' } }],
    ['no gas for a block', 'params.maxBlockExecutionGas', { params: { maxBlockExecutionGas: '0' } }],
    ['a committee that a trial can halt', 'params.committeeSize', { params: { committeeSize: 2 } }],
    ['a committee above the largest', 'params.committeeSize', { params: { committeeSize: 129 } }],
    ['an unknown proof function', 'params.proofChain.after', { params: { proofChain: { after: 'scrypt' } } }],
  ])('is refused for %s, with the path', (_, path, change) => {
    expect(pathOf(change)).toBe(path)
  })

  test('says what to do', () => {
    expect(errorOf(() => parse({ extra: 1 }))?.problem).toContain('known here: format, network')
    expect(errorOf(() => parseGenesis('{'))?.problem).toContain('not JSON')
    expect(errorOf(() => parseGenesis('[]'))?.problem).toBe('want an object')
    expect(errorOf(() => parseGenesis('{}'))?.problem).toContain('"format": "tandem/1"')
    expect(errorOf(() => parseGenesis('{"config":{"chainId":1}}'))?.problem).toMatch(/geth.*names no council/)
    expect(errorOf(() => parseGenesis('{"format":"tandem/1","__proto__":{}}'))?.problem).toContain('unknown member')
  })
})

describe('block 0 of our own format', () => {
  const hashOf = (change: object = {}): Hex => genesisBlock(parse(change), ZERO_HASH).hash

  test('is a block as any other, with the floor as its base fee', () => {
    const { header, size } = genesisBlock(parse({ extraVanity: '0x1234' }), ZERO_HASH)
    expect(header).toMatchObject({
      number: 0,
      difficulty: 1n,
      baseFeePerGas: 25_000_000_000n,
      gasLimit: 999_999_999_999n,
    })
    expect(decodeExtraData(header.extraData)).toMatchObject({
      parentCertificate: null,
      vanity: Uint8Array.of(0x12, 0x34),
    })
    expect(size).toBeGreaterThan(500)
  })

  test('differs between chains whose rules differ', () => {
    const changes: Partial<Document>[] = [
      {},
      { chainId: 78 },
      { timestamp: 1 },
      { foundation: address('f1') },
      { council: [{ ...member, reward: address('13') }] },
      { params: { council: { openRegistration: false } } },
      { params: { devHelpers: false } },
      { params: { blockTimeMs: 500 } },
      { params: { rewards: { cycleBlocks: 10 } } },
    ]
    expect(new Set(changes.map(hashOf)).size).toBe(changes.length)
  })

  test('does not depend on how the file is written, nor on forks scheduled later', () => {
    const one = { params: { blockTimeMs: 500, baseFee: { gasTarget: '1000', denominator: '8' } } }
    const other = {
      params: { baseFee: { denominator: '0x8', gasTarget: '0x3e8' }, blockTimeMs: 500, forks: { prague: 99 } },
    }
    expect(hashOf(one)).toBe(hashOf(other))
  })
})
