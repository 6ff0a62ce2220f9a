import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ZERO_ADDRESS } from '@tandem/base/bytes.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { methodsOf } from '../../../src/cli/shared/options/method-options.ts'
import { forksWith } from '../../../src/config/forks.ts'
import { NETWORKS } from '../../../src/config/networks.ts'
import { addressFromPrivateKey } from '../../../src/crypto/signature.ts'
import { operatorAddress } from '../../../src/node/parts/operator-address.ts'
import { KEY } from '../../support/rpc/memory-chain.ts'
import { Rig } from '../../support/rpc/rig.ts'
import { NODE, ONE_KEY } from '../../support/rpc/services.ts'

describe('the operator is', () => {
  let dir: string
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'tandem-test-'))
  })
  afterAll(() => rmSync(dir, { recursive: true, force: true }))
  const named = `0x${'ee'.repeat(20)}` as const

  test('whom --coinbase names, else the validator', async () => {
    const options = { dataDir: dir, validatorKey: KEY }
    expect(await operatorAddress({ ...options, coinbase: named })).toBe(named)
    expect(await operatorAddress(options)).toBe(addressFromPrivateKey(KEY))
  })
  test('named after the key of a node without either: its own, never zero, the same at each start', async () => {
    const of = (name: string) => operatorAddress({ dataDir: join(dir, name), validatorKey: null })
    const first = await of('a')
    expect(first).toMatch(/^0x[0-9a-f]{40}$/)
    expect(first).not.toBe(ZERO_ADDRESS)
    expect(await of('a')).toBe(first)
    expect(await of('b')).not.toBe(first)
  })
})

test('every name of the operator answers the same address', async () => {
  const rig = await Rig.start()
  for (const name of ['eth_coinbase', 'eth_etherbase', 'native_coinbase', 'native_etherbase', 'native_nodeAddress'])
    expect([name, await rig.result(name)]).toEqual([name, NODE.coinbase])
  await rig.stop()
})

describe('a method that the operator switched off', () => {
  let rig: Rig
  beforeAll(async () => {
    rig = await Rig.start({ disabledMethods: ['eth_newFilter', 'eth_getLogs', 'native_getCommittee', 'eth_subscribe'] })
  })
  afterAll(() => rig.stop())

  test('answers -32075, whatever its arguments, also under its native name', async () => {
    for (const name of ['eth_newFilter', 'native_newFilter', 'eth_getLogs', 'native_getLogs', 'native_getCommittee'])
      for (const params of [[], [{}], ['wrong', 'too', 'many', 'arguments', 5]])
        expect([name, await rig.failure(name, params)]).toEqual([name, '-32075 Method disabled'])
    expect(await rig.failure('eth_subscribe', ['newHeads'])).toBe('-32075 Method disabled')
  })
  test('stays in the list of namespaces, and others are served as before', async () => {
    expect(await rig.result('rpc_modules')).toEqual({ eth: '1.0', net: '1.0', rpc: '1.0', native: '1.0' })
    expect(await rig.result('native_getCommitteeSize')).toBe(4)
    expect(await rig.failure('personal_listAccounts')).toBe(
      '-32601 the method personal_listAccounts does not exist/is not available',
    )
  })
  test('must exist', () => {
    expect(methodsOf({ disableMethods: ['eth_getLogs'] })).toEqual({ disabledMethods: ['eth_getLogs'] })
    expect(() => methodsOf({ disableMethods: ['eth_getLogs', 'eth_getLog'] })).toThrow(
      '--disable-methods: there is no method "eth_getLog"; docs/rpc.md lists all.',
    )
  })
  test('is not offered by the OpenRPC document', async () => {
    const { methods } = await rig.result<{ methods: { name: string }[] }>('rpc.discover')
    const names = methods.map(({ name }) => name)
    expect(names).toContain('eth_chainId')
    expect(names).not.toContain('native_getLogs')
  })
})

describe('eth_resend', () => {
  const to = `0x${'12'.repeat(20)}`
  test('needs the account, then the nonce, then the transaction', async () => {
    const rig = await Rig.start()
    const held = await Rig.start({ wallet: ONE_KEY })
    const [from] = ONE_KEY.accounts()
    expect(await rig.failure('eth_resend', [{ from, to }])).toBe('-32000 unknown account')
    expect(await held.failure('eth_resend', [{ from, to }])).toBe(
      '-32000 missing transaction nonce in transaction spec',
    )
    expect(await held.failure('eth_resend', [{ from, to, nonce: '0x7' }])).toBe(
      '-32000 no pending transaction of this account with nonce 7 and these contents',
    )
    await rig.stop()
    await held.stop()
  })
  test('sends the same again at the new price', async () => {
    const rig = await Rig.start({ wallet: ONE_KEY })
    const [from] = ONE_KEY.accounts()
    const call = { from, to, value: '0x5', nonce: '0x9', gas: '0x7530', gasPrice: '0x6fc23ac00' }
    const first = await rig.result<string>('eth_sendTransaction', [call])
    const again = await rig.result<`0x${string}`>('eth_resend', [call, '0x826299e00', '0x9c40'])
    expect(again).not.toBe(first)
    expect(rig.pool.get(again)).toMatchObject({ nonce: 9, value: 5n, gasLimit: 40_000n, maxFeePerGas: 0x826299e00n })
    expect(await rig.failure('eth_resend', [{ ...call, value: '0x6' }, '0x826299e00'])).toMatch(/^-32000 no pending/)
    await rig.stop()
  })
})

describe('rules of the chain', () => {
  let rig: Rig
  beforeAll(async () => {
    rig = await Rig.start()
    rig.chain.append()
  })
  afterAll(() => rig.stop())
  type Params = Record<string, unknown>

  /** Names of the parts of the parameters that native_getParams shows in another form. */
  const SHOWN_AS: Readonly<Record<string, string>> = {
    'rewards.cycleReward': 'rewards.cycleReward',
    'rewards.halvingNumerator': 'rewards.halvingRatio',
    'rewards.halvingDenominator': 'rewards.halvingRatio',
    blobForks: 'maxBlobs',
    name: 'network',
  }
  /** Members that are services of endpoints, not rules. */
  const SERVICES = ['namespaces', 'wsPaths', 'wsRedirect', 'explorer', 'faucet', 'needsGenesisFile']
  const leaves = (value: object, prefix = ''): string[] =>
    Object.entries(value).flatMap(([key, member]) => {
      const path = `${prefix}${key}`
      if (typeof member !== 'object' || member === null || Array.isArray(member)) return [path.replace(/Wei$/, '')]
      return leaves(member, `${path}.`)
    })

  test('are all listed', async () => {
    const params = await rig.result<Params>('native_getParams')
    const names = leaves(NETWORKS.mainnet).filter(path => !SERVICES.some(service => path.startsWith(service)))
    expect(names.length).toBeGreaterThan(30)
    const shown = (name: string) => SHOWN_AS[name] ?? (name.startsWith('precompilePrices.') ? 'precompilePrices' : name)
    for (const name of names) expect(Object.keys(params)).toContain(shown(name))
    expect(params['precompilePrices']).toMatchObject({ '0x1': { times: '0x1', plus: '0x3e8' }, '0xa': null })
    expect(params).toMatchObject({
      symbol: 'TNDM',
      decimals: 18,
      forks: { cancun: 0, osaka: 0 },
      evmFork: 'osaka',
    })
  })
  test('are those of the block that is asked for', async () => {
    expect(await rig.failure('native_getParams', ['0xff'])).toBe('-32000 the header does not exist (block number: 255)')
    expect(await rig.result('native_getParams', ['0x1'])).toEqual(await rig.result('native_getParams', ['latest']))
    const changing = await Rig.start({
      network: {
        ...NETWORKS.mainnet,
        forks: forksWith(NETWORKS.mainnet.forks, { prague: 2, osaka: null }),
        rewards: { ...NETWORKS.mainnet.rewards, halvingBlocks: 1 },
      },
    })
    changing.chain.append()
    changing.chain.append()
    const [before, after] = [
      await changing.result<Params>('native_getParams', ['0x1']),
      await changing.result<Params>('native_getParams', ['0x2']),
    ]
    expect([before['evmFork'], after['evmFork']]).toEqual(['cancun', 'prague'])
    expect(before['rewards.cycleReward']).toBe(`0x${(2_000n * 10n ** 18n).toString(16)}`)
    expect(after['rewards.cycleReward']).toBe(`0x${((2_000n * 10n ** 18n * 7_372n) / 10_000n).toString(16)}`)
    await changing.stop()
  })
  test('of the EVM are told as EIP-7910 asks', async () => {
    const config = await rig.result<{ current: Params; next: unknown; last: unknown }>('eth_config')
    expect(config).toMatchObject({
      current: {
        activationTime: 0,
        chainId: '0x134fe69',
        blobSchedule: { max: 0, target: 0, baseFeeUpdateFraction: 0 },
        systemContracts: { HISTORY_STORAGE_ADDRESS: '0x0000f90827f1c53a10cb7a02335b175320002935' },
      },
      next: null,
      last: null,
    })
    expect(Object.keys(config.current['precompiles'] as object)).toHaveLength(17)
    expect(await rig.result('eth_blobBaseFee')).toBe('0x0')
  })
})
