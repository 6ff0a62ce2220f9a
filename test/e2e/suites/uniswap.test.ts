import { encodeAbiParameters, getCreate2Address, type Hex, keccak256, parseSignature, zeroAddress } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { packageArtifact } from './artifact.ts'
import { PERMIT } from './permit.ts'
import { eventsOf, revertOf, ViemChain, type ViemContract } from './viem-chain.ts'

/** Public behaviour of Uniswap V2 core 1.0.1, compiled in 2020 for Istanbul, through viem. */
const factoryArtifact = packageArtifact('@uniswap/v2-core/build/UniswapV2Factory.json')
const pairArtifact = packageArtifact('@uniswap/v2-core/build/UniswapV2Pair.json')
const tokenArtifact = packageArtifact('@uniswap/v2-core/build/ERC20.json')

const ETHER = 10n ** 18n
/** Shares that the first deposit leaves in the pair for good. */
const LOCKED = 1_000n

let chain: ViemChain
let factory: ViemContract
let pair: ViemContract
let tokens: readonly [ViemContract, ViemContract]

beforeAll(async () => {
  chain = await ViemChain.start()
  factory = await chain.deploy(factoryArtifact, [chain.account(0)])
  const [a, b] = [
    await chain.deploy(tokenArtifact, [10_000n * ETHER]),
    await chain.deploy(tokenArtifact, [10_000n * ETHER]),
  ]
  await chain.send(factory, 'createPair', [a.address, b.address])
  const address = (await chain.read(factory, 'getPair', [a.address, b.address])) as Hex
  pair = { address, abi: pairArtifact.abi as ViemContract['abi'] }
  tokens = ((await chain.read(pair, 'token0')) as Hex).toLowerCase() === a.address.toLowerCase() ? [a, b] : [b, a]
})
afterAll(() => chain?.stop())
beforeEach(() => chain.clean())

const deposit = async (first: bigint, second: bigint) => {
  await chain.send(tokens[0], 'transfer', [pair.address, first])
  await chain.send(tokens[1], 'transfer', [pair.address, second])
  return chain.send(pair, 'mint', [chain.account(0)])
}
const reserves = async () => ((await chain.read(pair, 'getReserves')) as readonly (bigint | number)[]).slice(0, 2)
const balanceOf = (token: ViemContract, holder: Hex) => chain.read(token, 'balanceOf', [holder])
/** Pays `paid` of the first token and asks for `out` of the second. */
const swap = async (paid: bigint, out: bigint) => {
  await chain.send(tokens[0], 'transfer', [pair.address, paid])
  return chain.send(pair, 'swap', [0n, out, chain.account(0), '0x'])
}

describe('factory', () => {
  test('a pair stands where CREATE2 puts it, and there is one of each', async () => {
    const addresses = [tokens[0].address, tokens[1].address].map(text => text.slice(2).toLowerCase()).join('')
    const expected = getCreate2Address({
      from: factory.address,
      salt: keccak256(`0x${addresses}`),
      bytecodeHash: keccak256(pairArtifact.bytecode),
    })
    expect(pair.address).toBe(expected)
    for (const [one, other] of [tokens, [tokens[1], tokens[0]]] as const)
      expect(await revertOf(chain.send(factory, 'createPair', [one?.address, other?.address]))).toBe(
        'UniswapV2: PAIR_EXISTS',
      )
    expect(await chain.read(factory, 'allPairsLength')).toBe(1n)
  })

  test('only its setter changes who gets the fee', async () => {
    const alice = chain.account(1)
    expect(await revertOf(chain.send(factory, 'setFeeTo', [alice], { from: 1 }))).toBe('UniswapV2: FORBIDDEN')
    await chain.send(factory, 'setFeeTo', [alice])
    await chain.send(factory, 'setFeeToSetter', [alice])
    expect([await chain.read(factory, 'feeTo'), await chain.read(factory, 'feeToSetter')]).toEqual([alice, alice])
    expect(await revertOf(chain.send(factory, 'setFeeTo', [zeroAddress]))).toBe('UniswapV2: FORBIDDEN')
  })
})

describe('pair', () => {
  test('a first deposit makes shares of its geometric mean, some of them locked', async () => {
    const receipt = await deposit(ETHER, 4n * ETHER)
    expect(eventsOf(pair, receipt).map(([name]) => name)).toEqual(['Transfer', 'Transfer', 'Sync', 'Mint'])
    expect(await chain.read(pair, 'totalSupply')).toBe(2n * ETHER)
    expect(await balanceOf(pair, chain.account(0))).toBe(2n * ETHER - LOCKED)
    expect(await balanceOf(pair, zeroAddress)).toBe(LOCKED)
    expect(await reserves()).toEqual([ETHER, 4n * ETHER])
  })

  // [paid, reserve of the first, reserve of the second, most that comes out]
  test.each([
    [1n, 5n, 10n, 1_662_497_915_624_478_906n],
    [1n, 10n, 5n, 453_305_446_940_074_565n],
    [2n, 5n, 10n, 2_851_015_155_847_869_602n],
    [2n, 10n, 5n, 831_248_957_812_239_453n],
    [1n, 10n, 10n, 906_610_893_880_149_131n],
    [1n, 100n, 100n, 987_158_034_397_061_298n],
    [1n, 1_000n, 1_000n, 996_006_981_039_903_216n],
  ])('paying %s into %s and %s gives so much and not a wei more', async (paid, first, second, out) => {
    await deposit(first * ETHER, second * ETHER)
    expect(await revertOf(swap(paid * ETHER, out + 1n))).toBe('UniswapV2: K')
    // The payment of the failed swap is still there.
    const receipt = await chain.send(pair, 'swap', [0n, out, chain.account(0), '0x'])
    expect(eventsOf(pair, receipt).map(([name]) => name)).toEqual(['Sync', 'Swap'])
    expect(await reserves()).toEqual([(first + paid) * ETHER, second * ETHER - out])
  })

  test('refuses empty swaps, too large ones and its own tokens as receivers', async () => {
    await deposit(ETHER, ETHER)
    const to = (out: bigint, receiver: Hex) => revertOf(chain.send(pair, 'swap', [0n, out, receiver, '0x']))
    expect(await to(0n, chain.account(0))).toBe('UniswapV2: INSUFFICIENT_OUTPUT_AMOUNT')
    expect(await to(ETHER, chain.account(0))).toBe('UniswapV2: INSUFFICIENT_LIQUIDITY')
    expect(await to(1n, tokens[1].address)).toBe('UniswapV2: INVALID_TO')
    expect(await to(1n, chain.account(0))).toBe('UniswapV2: INSUFFICIENT_INPUT_AMOUNT')
  })

  test('burning gives both tokens back but for the locked shares', async () => {
    await deposit(3n * ETHER, 3n * ETHER)
    await chain.send(pair, 'transfer', [pair.address, 3n * ETHER - LOCKED])
    const receipt = await chain.send(pair, 'burn', [chain.account(0)])
    expect(eventsOf(pair, receipt).map(([name]) => name)).toEqual(['Transfer', 'Sync', 'Burn'])
    expect(await chain.read(pair, 'totalSupply')).toBe(LOCKED)
    expect(await reserves()).toEqual([LOCKED, LOCKED])
  })

  test('adds price times seconds to its oracle, once a block', async () => {
    await deposit(3n * ETHER, 6n * ETHER)
    const price = (over: bigint, under: bigint) => (over << 112n) / under
    const stamp = async () => Number(((await chain.read(pair, 'getReserves')) as unknown[])[2])
    const began = await stamp()
    await chain.client.setNextBlockTimestamp({ timestamp: BigInt(began + 10) })
    await chain.send(pair, 'sync')
    expect(await stamp()).toBe(began + 10)
    expect(await chain.read(pair, 'price0CumulativeLast')).toBe(price(6n, 3n) * 10n)
    expect(await chain.read(pair, 'price1CumulativeLast')).toBe(price(3n, 6n) * 10n)
    expect(await chain.read(pair, 'kLast')).toBe(0n)
  })

  test('with a fee receiver a sixth of the growth becomes shares', async () => {
    await chain.send(factory, 'setFeeTo', [chain.account(1)])
    await deposit(1_000n * ETHER, 1_000n * ETHER)
    await swap(ETHER, 996_006_981_039_903_216n)
    await chain.send(pair, 'transfer', [pair.address, 1_000n * ETHER - LOCKED])
    await chain.send(pair, 'burn', [chain.account(0)])
    expect(await balanceOf(pair, chain.account(1))).toBe(249_750_499_251_388n)
    expect(await chain.read(pair, 'totalSupply')).toBe(LOCKED + 249_750_499_251_388n)
  })

  test('shares move by a permit that the node signed', async () => {
    await deposit(ETHER, ETHER)
    const [owner, spender] = [chain.account(0), chain.account(1)]
    const domain = { name: 'Uniswap V2', version: '1', chainId: chain.node.chainId, verifyingContract: pair.address }
    const message = { owner, spender, value: 5n, nonce: 0n, deadline: 2n ** 256n - 1n }
    const signed = { domain, types: PERMIT, primaryType: 'Permit', message, account: owner } as const
    const { r, s, yParity } = parseSignature(await chain.client.signTypedData(signed))
    const permit = [owner, spender, 5n, message.deadline, yParity + 27, r, s]
    await chain.send(pair, 'permit', permit, { from: 1 })
    expect(await chain.read(pair, 'allowance', [owner, spender])).toBe(5n)
    expect(await revertOf(chain.send(pair, 'permit', permit, { from: 1 }))).toBe('UniswapV2: INVALID_SIGNATURE')
    await chain.send(pair, 'transferFrom', [owner, spender, 5n], { from: 1 })
    expect(await balanceOf(pair, spender)).toBe(5n)
  })

  test('its constants are those that were published', async () => {
    const types = 'Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)'
    expect(await chain.read(pair, 'PERMIT_TYPEHASH')).toBe(keccak256(`0x${Buffer.from(types).toString('hex')}`))
    const hash = (text: string) => keccak256(`0x${Buffer.from(text).toString('hex')}`)
    const domain = 'EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)'
    const separator = encodeAbiParameters(
      [{ type: 'bytes32' }, { type: 'bytes32' }, { type: 'bytes32' }, { type: 'uint256' }, { type: 'address' }],
      [hash(domain), hash('Uniswap V2'), hash('1'), BigInt(chain.node.chainId), pair.address],
    )
    expect(await chain.read(pair, 'DOMAIN_SEPARATOR')).toBe(keccak256(separator))
  })
})
