import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Hex } from '@tandem/base/bytes.ts'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { type GenesisFlags, newGenesis } from '../../../../src/cli/genesis/run.ts'
import { fund, validatorSpec } from '../../../../src/cli/genesis/specs.ts'
import { addressOption, timestampOption } from '../../../../src/cli/shared/options/options.ts'
import { parseGenesis } from '../../../../src/config/genesis/genesis.ts'
import { NETWORKS } from '../../../../src/config/networks.ts'
import { encryptKey } from '../../../../src/crypto/keys/keystore.ts'
import { addressFromPrivateKey } from '../../../../src/crypto/signature.ts'
import { genesisHashFromFile } from '../../../../src/node/genesis/genesis-hash.ts'
import { nobody, person } from '../person.ts'
import { printed } from '../printed.ts'

const TOKEN = 10n ** 18n
const ONE: Hex = `0x${'11'.repeat(20)}`
const TWO: Hex = `0x${'22'.repeat(20)}`
const CHECKED = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'

let dir: string
let flags: GenesisFlags
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'tandem-genesis-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  flags = { timestamp: 1_800_000_000, out: join(dir, 'genesis.json'), json: true }
})
const made = async (change: Partial<GenesisFlags>, terminal = nobody()) => {
  const result = JSON.parse(await printed(() => newGenesis({ ...flags, ...change }, terminal)))
  return { result, genesis: parseGenesis(readFileSync(flags.out, 'utf8')) }
}

describe('tandem genesis new', () => {
  test('with an address alone: the network stands for the rest', async () => {
    const { result, genesis } = await made({ network: 'devnet', validator: [validatorSpec(ONE)] })
    expect(genesis.params).toEqual(NETWORKS.devnet)
    expect(genesis.timestamp).toBe(1_800_000_000)
    expect(genesis.council).toMatchObject([
      { name: 'validator-1', validator: ONE, reward: ONE, stakeWei: NETWORKS.devnet.minStakeWei },
    ])
    expect(genesis.foundation).toBe(ONE)
    expect(genesis.alloc.size).toBe(0)
    expect(result).toEqual({ file: flags.out, genesisHash: await genesisHashFromFile(genesis), chainId: 1_998_999 })
    expect(statSync(flags.out).mode & 0o400).toBe(0o400)
  })

  test('warns of a council that no committee holds', async () => {
    const validators = (count: number) =>
      Array.from({ length: count }, (_, at) => validatorSpec(`0x${(at + 1).toString(16).padStart(40, '0')}`))
    const told = (count: number) =>
      printed(() =>
        newGenesis(
          { ...flags, out: join(dir, `${count}.json`), network: 'devnet', validator: validators(count), json: false },
          nobody(),
        ),
      )
    expect(await told(31)).not.toContain('sample')
    expect(await told(32)).toMatch(
      /32 validators are more than a committee of 31: .* than 10 faulty or.*\n.*"committeeSize": 32 /,
    )
    expect(await told(200)).toMatch(/200 validators .* than 16 faulty or offline .*\n.*"committeeSize": 128 /)
  })

  test('tells a person who has tokens, and how to give some where nobody has', async () => {
    const told = (change: Partial<GenesisFlags>) =>
      printed(() =>
        newGenesis({ ...flags, network: 'devnet', validator: [validatorSpec(ONE)], json: false, ...change }, nobody()),
      )
    expect(await told({})).toMatch(/Funded accounts\n {2}none: .*--fund ADDRESS=TOKENS/)
    const out = join(dir, 'funded.json')
    expect(await told({ out, fund: [fund(`${CHECKED}=1000000`)] })).toContain(
      `\nFunded accounts\n  ${CHECKED}  1,000,000 tokens\n`,
    )
  })

  test('says that a chain with one validator serves the development helpers, and how to switch them off', async () => {
    const told = async (out: string, validators: readonly Hex[]) =>
      printed(() =>
        newGenesis(
          { ...flags, out: join(dir, out), network: 'devnet', validator: validators.map(validatorSpec), json: false },
          nobody(),
        ),
      )
    expect(await told('one.json', [ONE])).toMatch(/one validator: .*docs\/dev-helpers\.md\)\.\n.*"devHelpers": false/)
    expect(await told('two.json', [ONE, TWO])).not.toContain('devHelpers')
  })

  test('with everything', async () => {
    const key = new Uint8Array(32).fill(9)
    const keyFile = join(dir, 'key.json')
    writeFileSync(keyFile, JSON.stringify(await encryptKey(key, 'secret', { scryptN: 1_024 })), { mode: 0o600 })
    const { genesis } = await made({
      network: 'devnet',
      chainId: 4_242,
      validator: [
        validatorSpec(`${ONE},name=alice,stake=40.5,reward=${TWO},owner=${CHECKED}`),
        validatorSpec(`${keyFile} , name = bob the second`),
      ],
      foundation: TWO,
      fund: [fund(`${CHECKED}=1000.25`), fund(`${ONE}=1`)],
      blockTime: 0.25,
    })
    expect(genesis.params).toMatchObject({ chainId: 4_242, networkId: 4_242, blockTimeMs: 250 })
    expect(genesis.council).toMatchObject([
      { name: 'alice', validator: ONE, owner: CHECKED.toLowerCase(), reward: TWO, stakeWei: (405n * TOKEN) / 10n },
      {
        name: 'bob the second',
        validator: addressFromPrivateKey(key),
        owner: addressFromPrivateKey(key),
        reward: addressFromPrivateKey(key),
        stakeWei: 35n * TOKEN,
      },
    ])
    expect(genesis.foundation).toBe(TWO)
    expect([...genesis.alloc].map(([who, { balance }]) => [who, balance])).toEqual([
      [CHECKED.toLowerCase(), (100_025n * TOKEN) / 100n],
      [ONE, TOKEN],
    ])
  })

  test('what another choice makes has another hash', async () => {
    const base = { network: 'devnet', validator: [validatorSpec(ONE)] } as const
    const changes: readonly Partial<GenesisFlags>[] = [
      {},
      { chainId: 5 },
      { timestamp: 1_800_000_001 },
      { blockTime: 2 },
      { foundation: TWO },
      { fund: [fund(`${TWO}=1`)] },
      { validator: [validatorSpec(`${ONE},name=x`)] },
    ]
    const hashes = new Set<string>()
    for (const [index, change] of changes.entries()) {
      flags = { ...flags, out: join(dir, `${index}.json`) }
      hashes.add((await made({ ...base, ...change })).result.genesisHash)
    }
    expect(hashes.size).toBe(changes.length)
  })

  test('never writes over a file', async () => {
    writeFileSync(flags.out, 'precious')
    const work = newGenesis({ ...flags, network: 'devnet', validator: [validatorSpec(ONE)] }, nobody())
    await expect(work).rejects.toThrow(`--out: ${flags.out} is there already and is never overwritten.`)
    expect(readFileSync(flags.out, 'utf8')).toBe('precious')
  })

  test.each<[string, () => Partial<GenesisFlags>, RegExp]>([
    ['no network', () => ({ validator: [validatorSpec(ONE)] }), /^Give --network NAME, or run this on a terminal/],
    ['nothing', () => ({}), /^Give --network NAME and --validator/],
    [
      'no foundation of a public network',
      () => ({ network: 'mainnet', validator: [validatorSpec(ONE)] }),
      /^Give --foundation ADDRESS,/,
    ],
    [
      'a key file that is not there',
      () => ({ network: 'devnet', validator: [validatorSpec('none.json')] }),
      /^--validator: /,
    ],
    [
      'an account twice',
      () => ({ network: 'devnet', validator: [validatorSpec(ONE)], fund: [fund(`${ONE}=1`), fund(`${ONE}=2`)] }),
      /^--fund names 0x1{40} twice/,
    ],
    [
      'a validator twice',
      () => ({ network: 'devnet', validator: [validatorSpec(ONE), validatorSpec(ONE)] }),
      /duplicate /,
    ],
    [
      'too little stake',
      () => ({ network: 'testnet', foundation: TWO, validator: [validatorSpec(`${ONE},stake=1`)] }),
      /want at least minStakeWei/,
    ],
    [
      'a chain id of one’s own on a public network',
      () => ({ network: 'testnet', chainId: 5, foundation: TWO, validator: [validatorSpec(ONE)] }),
      /the chain id of testnet is 1998991/,
    ],
    [
      'a long name',
      () => ({ network: 'devnet', validator: [validatorSpec(`${ONE},name=${'x'.repeat(33)}`)] }),
      /at most 32 bytes/,
    ],
  ])('%s is an error that names it, and nothing is written', async (_, change, message) => {
    await expect(newGenesis({ ...flags, ...change() }, nobody())).rejects.toThrow(message)
    expect(statSync(flags.out, { throwIfNoEntry: false })).toBeUndefined()
  })

  test('asks a person for what is open, again after an answer that cannot be', async () => {
    const terminal = person(
      'mainet',
      'testnet',
      '',
      '',
      'none.json',
      `${ONE},weight=3`,
      `${ONE},name=alice`,
      '',
      '',
      TWO,
      `${TWO}=5`,
      '',
    )
    const { genesis } = await made({}, terminal)
    expect(genesis.params).toEqual(NETWORKS.testnet)
    expect(genesis.council).toMatchObject([{ name: 'alice', validator: ONE }])
    expect(genesis.foundation).toBe(TWO)
    expect(genesis.alloc.get(TWO)?.balance).toBe(5n * TOKEN)
    for (const hint of [
      'It is one of mainnet, testnet, devnet.',
      'begins with the address or the key file',
      'none.json cannot be read: no such file',
      '"weight=3" is none of',
      'An address is 0x and 40',
    ])
      expect(terminal.shown()).toContain(hint)
  })
})

test.each<[string, () => unknown, RegExp]>([
  ['a validator without a key', () => validatorSpec('name=alice'), /begins with the address or the key file/],
  ['an unknown setting', () => validatorSpec(`${ONE},weight=3`), /"weight=3" is none of name=TEXT/],
  ['an address that is too short', () => validatorSpec('0x1234'), /0x and 40 hex digits/],
  ['an address with a wrong checksum', () => validatorSpec(CHECKED.replace('C51', 'c51')), /checksum/],
  ['a fund without an amount', () => fund(ONE), /decimal number of tokens/],
  ['a fund of nobody', () => fund('=5'), /0x and 40 hex digits/],
  ...[
    'tomorrow',
    '',
    '-1',
    '1.5',
    '1735689600000',
    '1e9',
    '2026-02-30',
    '2026-13-01',
    '2027-01-15T08:00:00',
    '2027-01-15T25:00:00Z',
    'Jan 1',
  ].map((text): [string, () => unknown, RegExp] => [
    `the time "${text}"`,
    () => timestampOption(text),
    /"now", unix seconds, or a date/,
  ]),
])('%s is refused', (_, parse, message) => {
  expect(parse).toThrow(message)
})

test('addresses are taken in lower case, in upper case and with their checksum', () => {
  const lower = CHECKED.toLowerCase()
  for (const text of [CHECKED, lower, `0x${lower.slice(2).toUpperCase()}`]) expect(addressOption(text)).toBe(lower)
})

test('times are now, unix seconds, or a date', () => {
  expect(timestampOption('1800000000')).toBe(1_800_000_000)
  expect(timestampOption('2027-01-15T08:00:00Z')).toBe(1_800_000_000)
  expect(timestampOption('2027-01-15T10:00+02:00')).toBe(1_800_000_000)
  expect(timestampOption('2028-02-29')).toBe(1_835_395_200)
  const before = Math.floor(Date.now() / 1_000)
  const now = timestampOption('now')
  expect(now >= before && now <= Date.now() / 1_000 + 1).toBe(true)
})
