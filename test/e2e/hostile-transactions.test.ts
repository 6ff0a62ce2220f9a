import { bigintToBytes, bytesToHex, concatBytes, EMPTY_BYTES, type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { POOL_LIMITS } from '../../src/config/limits/pool.ts'
import { BLOCK_BOUNDS } from '../../src/config/protocol-bounds.ts'
import { encodeRlp, type RlpItem, uintItem } from '../../src/primitives/rlp/rlp.ts'
import { alarmsIn } from '../support/alarms.ts'
import { type RpcFailure, rpc } from '../support/devnet.ts'
import { type Fields, type Signed, signerOf } from '../support/load.ts'
import { type NodeProcess, type Ready, spawnNode } from '../support/node-process.ts'

const GWEI = 10n ** 9n
const TO: Hex = `0x${'22'.repeat(20)}`
/** Order of the group of secp256k1. */
const N = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

let node: NodeProcess
let ready: Ready
let sign: (fields: Fields) => Signed

beforeAll(async () => {
  // No block comes while the table is read: what is pooled stays pooled.
  node = spawnNode(['devnet', '--port', '0', '--block-time', '600'])
  ready = await node.ready
  sign = signerOf(ready.accounts[0]?.privateKey ?? '0x', ready.chainId)
})
afterAll(async () => {
  expect(alarmsIn(node.stderr())).toEqual([])
  expect(await node.end('SIGTERM')).toMatchObject({ code: 0 })
})

const send = async (raw: Hex): Promise<string> => {
  try {
    return await rpc<Hex>(ready.http, 'eth_sendRawTransaction', [raw])
  } catch (error) {
    const { rpcCode, message } = error as RpcFailure
    return `${rpcCode} ${message}`
  }
}

const refused = (text: string): string => `-32000 ${text}`

/** The fields of a signed legacy transaction, to be bent. */
const legacyFields = (overrides: Readonly<Record<number, RlpItem>> = {}): RlpItem[] => {
  const v = BigInt(ready.chainId) * 2n + 35n
  const word = new Uint8Array(32).fill(1)
  const fields: RlpItem[] = [
    uintItem(0),
    bigintToBytes(30n * GWEI),
    uintItem(21_000),
    hexToBytes(TO),
    EMPTY_BYTES,
    EMPTY_BYTES,
    bigintToBytes(v),
    word,
    word,
  ]
  for (const [index, item] of Object.entries(overrides)) fields[Number(index)] = item
  return fields
}
const legacy = (overrides?: Readonly<Record<number, RlpItem>>): Hex => bytesToHex(encodeRlp(legacyFields(overrides)))
const typed = (type: number, fields: RlpItem): Hex => bytesToHex(concatBytes(Uint8Array.of(type), encodeRlp(fields)))
const dynamicFields = (yParity: RlpItem = EMPTY_BYTES): RlpItem[] => [
  ...[uintItem(ready.chainId), EMPTY_BYTES, EMPTY_BYTES, bigintToBytes(30n * GWEI), uintItem(21_000)],
  ...[hexToBytes(TO), EMPTY_BYTES, EMPTY_BYTES, [], yParity, new Uint8Array(32).fill(1), new Uint8Array(32).fill(1)],
]
const whole = (): Uint8Array => hexToBytes(sign({ nonce: 0 }).raw)
const withTail = (bytes: Uint8Array): Hex => bytesToHex(concatBytes(whole(), bytes))

const SIGNATURE = 'invalid transaction v, r, s values'

const ENCODINGS: readonly (readonly [what: string, raw: () => Hex, text: string])[] = [
  ['nothing', () => '0x', 'Empty input'],
  ['the empty list', () => '0xc0', 'rlp: too few elements'],
  ['a string', () => '0x83aabbcc', 'rlp: expected List'],
  ['a lone type byte', () => '0x02', 'typed transaction too short'],
  ['type 0 in an envelope', () => '0x00c0', 'transaction type not supported'],
  ['type 5', () => '0x05c0', 'transaction type not supported'],
  ['type 0x7f', () => '0x7fc0', 'transaction type not supported'],
  ['half a transaction', () => bytesToHex(whole().subarray(0, 50)), 'rlp: value size exceeds available input length'],
  ['one byte short', () => bytesToHex(whole().subarray(0, -1)), 'rlp: value size exceeds available input length'],
  ['a byte behind', () => withTail(Uint8Array.of(0)), 'rlp: input contains more than one value'],
  ['a second transaction behind', () => withTail(whole()), 'rlp: input contains more than one value'],
  ['a list that says it is huge', () => '0xffffffffffffffffffff', 'rlp: value size exceeds available input length'],
  ['a length with leading zeros', () => '0xf90001c0', 'rlp: non-canonical size information'],
  ['too few fields', () => bytesToHex(encodeRlp(legacyFields().slice(0, 8))), 'rlp: too few elements'],
  ['too many fields', () => bytesToHex(encodeRlp([...legacyFields(), EMPTY_BYTES])), 'rlp: too many elements'],
  [
    'a nonce with a leading zero',
    () => legacy({ 0: Uint8Array.of(0, 1) }),
    'rlp: non-canonical integer (leading zero bytes)',
  ],
  [
    'a nonce that is zero in one byte',
    () => legacy({ 0: Uint8Array.of(0) }),
    'rlp: non-canonical integer (leading zero bytes)',
  ],
  ['a nonce of 2^64', () => legacy({ 0: bigintToBytes(1n << 64n) }), 'rlp: input string too long for uint64'],
  [
    'a gas limit of nine bytes',
    () => legacy({ 2: new Uint8Array(9).fill(1) }),
    'rlp: input string too long for uint64',
  ],
  ['a price of 33 bytes', () => legacy({ 1: new Uint8Array(33).fill(1) }), 'rlp: input string too long for uint256'],
  ['a value of 33 bytes', () => legacy({ 4: new Uint8Array(33).fill(1) }), 'rlp: input string too long for uint256'],
  ['a recipient of 19 bytes', () => legacy({ 3: new Uint8Array(19) }), 'rlp: input string too short, want 20 bytes'],
  ['a recipient of 21 bytes', () => legacy({ 3: new Uint8Array(21) }), 'rlp: input string too long, want 20 bytes'],
  ['a recipient that is a list', () => legacy({ 3: [] }), 'rlp: expected input string or byte'],
  ['data that is a list', () => legacy({ 5: [EMPTY_BYTES] }), 'rlp: expected input string or byte'],
  ['r of zero', () => legacy({ 7: EMPTY_BYTES }), SIGNATURE],
  ['s of zero', () => legacy({ 8: EMPTY_BYTES }), SIGNATURE],
  ['r of 33 bytes', () => legacy({ 7: new Uint8Array(33).fill(1) }), 'rlp: input string too long for uint256'],
  [
    'r with a leading zero',
    () => legacy({ 7: concatBytes(Uint8Array.of(0), new Uint8Array(31).fill(1)) }),
    'rlp: non-canonical integer (leading zero bytes)',
  ],
  ['v of 0', () => legacy({ 6: EMPTY_BYTES }), SIGNATURE],
  ['v of 29', () => legacy({ 6: uintItem(29) }), SIGNATURE],
  ['r of the group order', () => legacy({ 7: bigintToBytes(N) }), 'invalid sender'],
  ['r of all ones', () => legacy({ 7: new Uint8Array(32).fill(0xff) }), 'invalid sender'],
  ['s in the upper half', () => legacy({ 8: bigintToBytes(N - 1n) }), 'invalid sender'],
  ['a parity of 2', () => typed(2, dynamicFields(uintItem(2))), SIGNATURE],
  [
    'an access list that is a string',
    () => typed(2, dynamicFields().with(8, Uint8Array.of(1, 2))),
    'rlp: expected List',
  ],
  ['an access list of strings', () => typed(2, dynamicFields().with(8, [hexToBytes(TO)])), 'rlp: expected List'],
  [
    'a storage key of 31 bytes',
    () =>
      typed(1, [
        uintItem(ready.chainId),
        EMPTY_BYTES,
        bigintToBytes(30n * GWEI),
        uintItem(30_000),
        hexToBytes(TO),
        EMPTY_BYTES,
        EMPTY_BYTES,
        [[hexToBytes(TO), [new Uint8Array(31)]]],
        EMPTY_BYTES,
        uintItem(1),
        uintItem(1),
      ]),
    'rlp: input string too short, want 32 bytes',
  ],
  [
    'blobs (type 3)',
    () =>
      typed(3, [
        ...dynamicFields().slice(0, 9),
        uintItem(1),
        [new Uint8Array(32).fill(1)],
        EMPTY_BYTES,
        uintItem(1),
        uintItem(1),
      ]),
    'transaction type not supported',
  ],
  [
    'code for no account (type 4)',
    () => typed(4, [...dynamicFields().slice(0, 9), [], EMPTY_BYTES, uintItem(1), uintItem(1)]),
    'set code tx must have at least one authorization tuple',
  ],
]

test.each(ENCODINGS)('%s', async (_, raw, text) => {
  expect(await send(raw())).toBe(refused(text))
})

const RULES: readonly (readonly [what: string, fields: Partial<Fields>, text: string | RegExp])[] = [
  ['another chain', { chainId: 1 }, 'invalid chain id for signer: have 1 want 1998999'],
  [
    'another chain in an envelope',
    { type: 2, chainId: 20_250_217, maxPriorityFeePerGas: 0n },
    'invalid chain id for signer: have 20250217 want 1998999',
  ],
  ['no chain (EIP-155)', { chainId: undefined }, 'only replay-protected (EIP-155) transactions allowed over RPC'],
  [
    'a price of nothing',
    { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n },
    'transaction underpriced: gas price 0 wei is below the minimum of 25000000000 wei',
  ],
  [
    'a wei below the floor',
    { maxFeePerGas: 25n * GWEI - 1n, maxPriorityFeePerGas: 25n * GWEI - 1n },
    'transaction underpriced: gas price 24999999999 wei is below the minimum of 25000000000 wei',
  ],
  [
    'a cap below the base fee',
    { type: 2, maxFeePerGas: 1n, maxPriorityFeePerGas: 0n },
    'transaction underpriced: gas price 1 wei is below the minimum of 25000000000 wei',
  ],
  [
    'a tip above the cap',
    { type: 2, maxFeePerGas: 30n * GWEI, maxPriorityFeePerGas: 31n * GWEI },
    'max priority fee per gas higher than max fee per gas',
  ],
  ['gas for nothing', { gasLimit: 0n }, 'intrinsic gas too low'],
  ['one gas too few', { gasLimit: 20_999n }, 'intrinsic gas too low'],
  ['one gas too few for its data', { gasLimit: 21_099n, data: Uint8Array.of(0) }, 'intrinsic gas too low'],
  ['gas above the limit', { gasLimit: 1_000_000_000_000n }, 'exceeds block gas limit'],
  ['gas of 2^64 - 1', { gasLimit: (1n << 64n) - 1n }, 'exceeds block gas limit'],
  ['gas nobody can pay', { gasLimit: 999_999_999_999n }, 'insufficient funds for gas * price + value'],
  ['more than it has', { value: 10n ** 30n }, 'insufficient funds for gas * price + value'],
  ['the largest value', { value: (1n << 256n) - 1n }, 'insufficient funds for gas * price + value'],
  [
    'the largest price',
    { maxFeePerGas: (1n << 256n) - 1n, maxPriorityFeePerGas: (1n << 256n) - 1n },
    'insufficient funds for gas * price + value',
  ],
  [
    'init code too large',
    { to: null, data: new Uint8Array(2 * BLOCK_BOUNDS.codeBytes + 1), gasLimit: 100_000_000n },
    'max initcode size exceeded: code size 49153 limit 49152',
  ],
  [
    'more bytes than a transaction may have',
    { data: new Uint8Array(BLOCK_BOUNDS.transactionBytes), gasLimit: 100_000_000n },
    'oversized data',
  ],
  ['a nonce no account reaches', { nonce: Number.MAX_SAFE_INTEGER }, 'nonce has max value'],
]

test.each(RULES)('%s', async (_, fields, text) => {
  expect(await send(sign({ nonce: 0, ...fields } as Fields).raw)).toBe(refused(text as string))
})

test('the order of the checks is that of the table: the first that fails answers', async () => {
  const wrongInAll = sign({ nonce: 0, chainId: 1, gasLimit: 1_000_000_000_000n, maxFeePerGas: 0n, value: 10n ** 30n })
  expect(await send(wrongInAll.raw)).toBe(refused('exceeds block gas limit'))
})

test('known, replaced, too low', async () => {
  const account = signerOf(ready.accounts[1]?.privateKey ?? '0x', ready.chainId)
  const first = account({ nonce: 0 })
  expect(await send(first.raw)).toBe(first.hash)
  expect(await send(first.raw)).toBe(refused('already known'))
  expect(await send(account({ nonce: 0, value: 1n }).raw)).toBe(refused('replacement transaction underpriced'))
  expect(await send(account({ nonce: 0, maxFeePerGas: 33n * GWEI - 1n }).raw)).toBe(
    refused('replacement transaction underpriced'),
  )
  const better = account({ nonce: 0, maxFeePerGas: 33n * GWEI })
  expect(await send(better.raw)).toBe(better.hash)
  expect(await rpc(ready.http, 'eth_getTransactionByHash', [first.hash])).toBeNull()
})

test('many at once of one nonce: exactly one is taken', async () => {
  const account = signerOf(ready.accounts[2]?.privateKey ?? '0x', ready.chainId)
  const rivals = Array.from({ length: 50 }, (_, index) => account({ nonce: 0, value: BigInt(index) }))
  const answers = await Promise.all(rivals.map(({ raw }) => send(raw)))
  expect(answers.filter(answer => answer.startsWith('0x'))).toHaveLength(1)
  expect(new Set(answers.filter(answer => !answer.startsWith('0x')))).toEqual(
    new Set([refused('replacement transaction underpriced')]),
  )
})

test('the same one many times at once: one is taken, the others are known', async () => {
  const { raw, hash } = signerOf(ready.accounts[3]?.privateKey ?? '0x', ready.chainId)({ nonce: 0 })
  const answers = await Promise.all(Array.from({ length: 50 }, () => send(raw)))
  expect(answers.filter(answer => answer === hash)).toHaveLength(1)
  expect(answers.filter(answer => answer === refused('already known'))).toHaveLength(49)
})

test('behind a gap an account has room for so many, and a funded one for no more than it can pay', async () => {
  const account = signerOf(ready.accounts[4]?.privateKey ?? '0x', ready.chainId)
  const answers: string[] = []
  for (let nonce = 1; nonce <= POOL_LIMITS.accountQueued + 5; nonce++) answers.push(await send(account({ nonce }).raw))
  expect(answers.filter(answer => answer.startsWith('0x'))).toHaveLength(POOL_LIMITS.accountQueued)
  expect(new Set(answers.slice(POOL_LIMITS.accountQueued))).toEqual(new Set([refused('txpool is full')]))
  const poor = signerOf(ready.accounts[5]?.privateKey ?? '0x', ready.chainId)
  const half = poor({ nonce: 0, value: 6_000n * 10n ** 18n })
  expect(await send(half.raw)).toBe(half.hash)
  expect(await send(poor({ nonce: 1, value: 6_000n * 10n ** 18n }).raw)).toBe(
    refused('insufficient funds for gas * price + value'),
  )
})

test('a used nonce', async () => {
  const instant = spawnNode(['devnet', '--port', '0', '--block-time', '0'])
  const { http, accounts, chainId } = await instant.ready
  const account = signerOf(accounts[0]?.privateKey ?? '0x', chainId)
  const { raw, hash } = account({ nonce: 0 })
  expect(await rpc(http, 'eth_sendRawTransaction', [raw])).toBe(hash)
  await expect.poll(() => rpc(http, 'eth_getTransactionReceipt', [hash])).toMatchObject({ status: '0x1' })
  await expect(rpc(http, 'eth_sendRawTransaction', [raw])).rejects.toMatchObject({
    message: 'nonce too low',
    rpcCode: -32_000,
  })
  await expect(rpc(http, 'eth_sendRawTransaction', [account({ nonce: 0, value: 1n }).raw])).rejects.toMatchObject({
    message: 'nonce too low',
  })
  expect(await instant.end('SIGTERM')).toMatchObject({ code: 0 })
})
