import { type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RPC_LIMITS } from '../../../src/config/limits/clients.ts'
import { revertReason } from '../../../src/evm/revert-reason.ts'
import { DOMAIN_ERRORS, toRpcError } from '../../../src/rpc/errors.ts'
import { signedTransaction } from '../../support/rpc/memory-chain.ts'
import { Rig } from '../../support/rpc/rig.ts'

const word = (value: number): string => value.toString(16).padStart(64, '0')
const errorString = (text: string): Uint8Array =>
  hexToBytes(
    `0x08c379a0${word(32)}${word(text.length)}${Buffer.from(text)
      .toString('hex')
      .padEnd(Math.ceil(text.length / 32) * 64, '0')}` as Hex,
  )

/** Every text a client may match (docs/interface.md#errors, docs/design/pool.md#checks, docs/design/rpc.md#errors): a change here is a change of the interface. */
const TEXTS: Record<string, readonly [object, string]> = {
  EXECUTION_REVERTED: [{ data: errorString('boom') }, '3 execution reverted: boom'],
  EXECUTION_FAILED: [{ reason: 'out of gas' }, '-32000 out of gas'],
  EXECUTION_TIMEOUT: [{ timeoutMs: 5_000 }, '-32000 execution aborted (timeout = 5s)'],
  INSUFFICIENT_BALANCE_FOR_TRANSFER: [{ have: 1n, want: 2n }, '-32000 err: insufficient balance for transfer'],
  INTRINSIC_GAS_TOO_LOW: [{ have: 1n, want: 2n }, '-32000 intrinsic gas too low: msg.gas 1, want 2'],
  GAS_REQUIRED_EXCEEDS_ALLOWANCE: [{ allowance: 7n }, '-32000 gas required exceeds allowance (7)'],
  CHAIN_ID_MISMATCH: [{ have: 3n, want: 5n }, "-32000 chainId does not match node's (have=3, want=5)"],
  OVERRIDE_CONFLICT: [{ address: '0xab' }, "-32000 account 0xab has both 'state' and 'stateDiff'"],
  NOT_A_PRECOMPILE: [{ address: '0xab' }, '-32000 account 0xab is not a precompile'],
  PRECOMPILE_MOVED_TO_ITSELF: [{ address: '0xab' }, '-38022 the precompile 0xab is moved to its own address'],
  ALREADY_OVERRIDDEN: [{ address: '0xab' }, '-32000 account 0xab is already overridden'],
  SIMULATION_NUMBER_ORDER: [{ number: 4, previous: 5 }, '-38020 block numbers must be in order: 4 <= 5'],
  SIMULATION_TIME_ORDER: [{ timestamp: 4, previous: 5 }, '-38021 block timestamps must be in order: 4 <= 5'],
  SIMULATION_LIMIT: [{ what: '256 blocks' }, '-38026 a simulation has at most 256 blocks'],
  SIMULATION_CALL_INVALID: [
    { number: 7, index: 1, reason: { code: 'NONCE_TOO_LOW', expected: 2, got: 1 } },
    '-38010 err: nonce too low: have 1, want 2 (call 1 of block 7)',
  ],
  CLIENT_QUEUE_FULL: [{ limit: 9 }, '-32005 too many of your calls (limit 9) are waiting, try again later'],
  CALL_QUEUE_FULL: [{ limit: 1 }, '-32005 too many calls are waiting, try again later'],
  MISSING_STATE: [{ root: '0xabcd' }, '-32000 missing trie node abcd (path )'],
  RESULTS_TOO_LARGE: [{ limitBytes: 1_000 }, '-32000 query returned more than 1000 bytes of log data'],
  HISTORY_MISSING: [
    { earliest: 9_000 },
    '-32000 pruned history unavailable: this node has no blocks between genesis and 9000',
  ],
  TOO_MANY_RESULTS: [
    { limit: 10_000, fits: { fromBlock: 16, toBlock: 255 } },
    '-32000 query returned more than 10000 results. Try with this block range [0x10, 0xff]',
  ],
  TRACE_TIMEOUT: [{ timeoutMs: 5_000 }, '-32000 execution timeout (timeout = 5s)'],
  TRACE_TOO_LARGE: [{ limitBytes: 7 }, '-32000 the trace is larger than 7 bytes'],
  TRACE_QUEUE_FULL: [{ limit: 1 }, '-32005 too many traces are waiting, try again later'],
  TRACE_FAILED: [{ reason: 'no preimage found' }, '-32000 no preimage found'],
  QUERY_TIMEOUT: [{ timeoutMs: 1 }, '-32000 query timeout exceeded'],
  QUERY_CLIENT_FULL: [{ limit: 7 }, '-32005 too many of your log queries (limit 7) are waiting, try again later'],
  QUERY_QUEUE_FULL: [{ limit: 1 }, '-32005 too many log queries are waiting, try again later'],
  TRIE_BUSY: [{}, '-32005 too many proofs are waiting, try again later'],
  TRIE_UNKNOWN_ROOT: [
    { asked: '0x', current: '0x' },
    '-32000 blocks come faster than proofs are made, try again later',
  ],
  PROOF_TOO_DEEP: [{ limit: 1 }, '-32000 too much has changed since that block for a proof in its state'],
  RECOVERY_QUEUE_FULL: [{ limit: 1 }, '-32000 too many transactions are waiting, try again later'],
  RECOVERY_FAILED: [{ reason: '' }, '-32000 the sender could not be recovered, try again later'],
  RECOVERY_CLOSED: [{}, '-32000 the node is stopping'],
  TYPED_DATA_MALFORMED: [{ reason: 'wrong type' }, '-32602 invalid argument 2: typed data: wrong type'],
  TRANSACTION_MALFORMED: [{ reason: 'Empty input' }, '-32000 Empty input'],
  ALREADY_KNOWN: [{ hash: '0x' }, '-32000 already known'],
  TYPE_UNSUPPORTED: [{ type: 3 }, '-32000 transaction type not supported'],
  NO_AUTHORIZATIONS: [{}, '-32000 set code tx must have at least one authorization tuple'],
  NO_BLOBS: [{}, '-32000 blob transaction without blobs'],
  BLOB_VERSION_UNKNOWN: [{ hash: '0x02' }, '-32000 blob hash of an unknown version: 0x02'],
  TOO_MANY_BLOBS: [{ have: 7, limit: 6 }, '-32000 too many blobs in transaction: have 7, limit 6'],
  INIT_CODE_TOO_LARGE: [{ size: 2, limit: 1 }, '-32000 max initcode size exceeded: code size 2 limit 1'],
  GAS_CAP_EXCEEDED: [{ have: 2n, limit: 1n }, '-32000 transaction gas limit too high (cap: 1, tx: 2)'],
  PROTECTED_TOO_EARLY: [{}, '-32000 replay-protected (EIP-155) transactions are not in force yet'],
  GAS_LIMIT_TOO_HIGH: [{ have: 2n, limit: 1n }, '-32000 exceeds block gas limit'],
  INVALID_CHAIN_ID: [{ have: 1, want: 2 }, '-32000 invalid chain id for signer: have 1 want 2'],
  UNPROTECTED: [{}, '-32000 only replay-protected (EIP-155) transactions allowed over RPC'],
  TIP_ABOVE_FEE_CAP: [{}, '-32000 max priority fee per gas higher than max fee per gas'],
  UNDERPRICED: [
    { gotWei: 1n, minWei: 2n },
    '-32000 transaction underpriced: gas price 1 wei is below the minimum of 2 wei',
  ],
  OVERSIZED: [{ sizeBytes: 2, limitBytes: 1 }, '-32000 oversized data'],
  INVALID_SENDER: [{}, '-32000 invalid sender'],
  SENDER_NOT_EOA: [{}, '-32000 sender not an eoa'],
  NONCE_MAX: [{}, '-32000 nonce has max value'],
  NONCE_TOO_LOW: [{ expected: 2, got: 1 }, '-32000 nonce too low'],
  INSUFFICIENT_FUNDS: [{ have: 1n, want: 2n }, '-32000 insufficient funds for gas * price + value'],
  INTRINSIC_GAS: [{ have: 1n, want: 2n }, '-32000 intrinsic gas too low'],
  REPLACEMENT_UNDERPRICED: [{ minFeeWei: 2n, minTipWei: 1n }, '-32000 replacement transaction underpriced'],
  POOL_FULL: [{}, '-32000 txpool is full'],
  DELEGATED_IN_FLIGHT: [{}, '-32000 in-flight transaction limit reached for delegated accounts'],
  DELEGATED_NONCE_GAP: [{}, '-32000 gapped-nonce tx from delegated accounts'],
  AUTHORITY_RESERVED: [{ authority: '0x01' }, '-32000 authority already reserved'],
  JOURNAL_FAILED: [{}, '-32000 the node cannot write it to its disk: mend that, then send it again'],
  REWIND_TOO_FAR: [
    { number: 0, oldest: 7 },
    '-32000 the state of block 0 is not kept any more, the oldest is that of block 7: start with --state-history archive',
  ],
  TOO_MANY_BLOCKS: [{ limit: 5 }, '-32000 at most 5 blocks at once'],
  PARENT_NOT_HEAD: [{ head: '0x12' }, '-32000 the parent is not the head, 0x12'],
  INVALID_TRANSACTION: [
    { index: 2, reason: { code: 'NONCE_TOO_LOW', got: 1, expected: 2 } },
    '-32000 transaction 2: nonce too low',
  ],
  NO_BLOCK: [{ timeoutMs: 30_000 }, '-32000 no block within 30 s'],
  TOO_MANY_STATIC_PEERS: [{ limit: 256 }, '-32000 at most 256 static peers: remove one first'],
  TOO_MANY_SNAPSHOTS: [{ limit: 5 }, '-32000 there are 5 snapshots: go back to one of them, or reset'],
  TIMESTAMP_TOO_EARLY: [
    { asked: 1, head: 2 },
    "-32000 Timestamp 1 is lower than or equal to previous block's timestamp 2",
  ],
  TIMESTAMP_TOO_LATE: [{ asked: 3, last: 2 }, '-32000 Timestamp 3 is later than the last, 2'],
  TOO_MANY_IMPERSONATED: [
    { limit: 5 },
    '-32000 at most 5 accounts are impersonated: stop some, or use anvil_autoImpersonateAccount',
  ],
  STATE_MALFORMED: [{ reason: 'not gzip' }, '-32000 this is no dumped state: not gzip'],
  STATE_TOO_LARGE: [{ limitBytes: 9 }, '-32000 the state is larger than 9 bytes: keep the chain with --datadir'],
  UNKNOWN_ACCOUNT: [{ address: '0x' }, '-32000 unknown account'],
  LOCKED: [{ address: '0x' }, '-32000 authentication needed: password or unlock'],
}

describe('domain errors', () => {
  test('are all held by this test', () => {
    expect(Object.keys(TEXTS).sort()).toEqual(Object.keys(DOMAIN_ERRORS).sort())
  })
  test.each(Object.entries(TEXTS))('%s', (code, [detail, text]) => {
    const error = toRpcError(new CodedError({ code, ...detail }))
    expect(`${error?.code} ${error?.message}`).toBe(text)
  })
  test.each([
    ['NONCE_TOO_LOW', { nonce: '0x1', expected: '0x2' }],
    ['INSUFFICIENT_FUNDS', { balance: '0x1', required: '0x2' }],
    ['INSUFFICIENT_BALANCE_FOR_TRANSFER', { balance: '0x1', required: '0x2' }],
    ['INTRINSIC_GAS', { gas: '0x1', required: '0x2' }],
    ['GAS_LIMIT_TOO_HIGH', { gas: '0x2', limit: '0x1' }],
    ['OVERSIZED', { size: '0x2', limit: '0x1' }],
    ['REPLACEMENT_UNDERPRICED', { maxFeePerGas: '0x2', maxPriorityFeePerGas: '0x1' }],
    ['ALREADY_KNOWN', { hash: '0x' }],
  ])('%s has a fixed text, and its figures in data', (code, data) => {
    const [detail] = TEXTS[code] as readonly [object, string]
    expect(toRpcError(new CodedError({ code, ...detail }))?.data).toEqual(data)
  })
  test('leaves an unknown code to the log', () => {
    expect(toRpcError(new CodedError({ code: 'toString' }))).toBeUndefined()
    expect(toRpcError(new Error('x'))).toBeUndefined()
  })
})

describe('revert reasons', () => {
  test('reads Error(string) and Panic(uint256)', () => {
    expect(revertReason(errorString('Insufficient balance'))).toBe('Insufficient balance')
    expect(revertReason(errorString(''))).toBe('')
    expect(revertReason(hexToBytes(`0x4e487b71${word(17)}`))).toBe('arithmetic underflow or overflow')
    expect(revertReason(hexToBytes(`0x4e487b71${word(0x99)}`))).toBe('unknown panic code: 0x99')
  })
  test.each([
    ['nothing', '0x'],
    ['a custom error', `0x11223344${word(1)}`],
    ['an offset beyond the end', `0x08c379a0${'f'.repeat(64)}${word(1)}`],
    ['a length beyond the end', `0x08c379a0${word(32)}${'f'.repeat(64)}`],
    ['a cut selector', '0x08c379'],
  ])('gives no text for %s', (_, data) => {
    expect(revertReason(hexToBytes(data as Hex))).toBeUndefined()
  })
})

describe('over the wire', () => {
  let rig: Rig
  beforeAll(async () => {
    rig = await Rig.start()
  })
  afterAll(() => rig.stop())

  test('a revert carries its output', async () => {
    rig.calls.failure = new CodedError({ code: 'EXECUTION_REVERTED', data: errorString('boom') })
    const { error } = await rig.call('eth_call', [{ to: `0x${'11'.repeat(20)}` }, 'latest'])
    rig.calls.failure = undefined
    expect(error).toEqual({
      code: 3,
      message: 'execution reverted: boom',
      data: `0x${Buffer.from(errorString('boom')).toString('hex')}`,
    })
  })
  test('a revert with megabytes is told without them, a long reason is cut', async () => {
    const reverted = async (data: Uint8Array) => {
      rig.calls.failure = new CodedError({ code: 'EXECUTION_REVERTED', data })
      const { error } = await rig.call('eth_call', [{ to: `0x${'11'.repeat(20)}` }, 'latest'])
      rig.calls.failure = undefined
      return error as { readonly code: number; readonly message: string; readonly data?: string }
    }
    const asked = [...rig.calls.requests]
    const { revertBytes, reasonChars } = RPC_LIMITS
    const most = await reverted(new Uint8Array(revertBytes))
    expect(most.data).toHaveLength(2 + 2 * revertBytes)
    expect(await reverted(new Uint8Array(revertBytes + 1))).toEqual({
      code: 3,
      message: `execution reverted: with ${revertBytes + 1} bytes, at most ${revertBytes} are told`,
    })
    const long = await reverted(errorString('x'.repeat(reasonChars + 1)))
    expect(long.message).toBe(`execution reverted: ${'x'.repeat(reasonChars)}...`)
    rig.calls.requests = asked
  })
  test('a refused transaction', async () => {
    rig.pool.refusal = { code: 'NONCE_TOO_LOW', expected: 2, got: 1 } as { code: string }
    expect(await rig.failure('eth_sendRawTransaction', ['0x00'])).toBe('-32000 nonce too low')
    rig.pool.refusal = undefined
    expect(await rig.failure('eth_sendRawTransaction', ['0x'])).toBe('-32000 Empty input')
    expect(await rig.failure('eth_sendRawTransaction', ['0xff'])).toMatch(/^-32000 /)
  })
  test('pruned state names the root', async () => {
    for (let i = 0; i < 3; i++) rig.chain.append()
    rig.chain.prunedBelow = 2
    const root = rig.chain.blocks[1]?.header.stateRoot.slice(2)
    expect(await rig.failure('eth_getBalance', [`0x${'11'.repeat(20)}`, '0x1'])).toBe(
      `-32000 missing trie node ${root} (path )`,
    )
  })
  test('keys: fees are looked at before the account', async () => {
    const { from, to } = signedTransaction({ nonce: 0 })
    expect(await rig.failure('eth_signTransaction', [{ from, to }])).toBe(
      '-32000 missing gasPrice or maxFeePerGas/maxPriorityFeePerGas',
    )
    expect(await rig.failure('eth_signTransaction', [{ from, to, gasPrice: '0x1' }])).toBe('-32000 unknown account')
    expect(await rig.failure('eth_sendTransaction', [{ from, to }])).toBe('-32000 unknown account')
    expect(await rig.failure('eth_sign', [from, '0x00'])).toBe('-32000 unknown account')
    expect(rig.calls.requests).toHaveLength(1)
  })
})

test('an error of a fixed text that lacks a figure keeps its text and the figures it has', () => {
  const lacking = (detail: object) => toRpcError(new CodedError(detail as { code: string }))
  expect(lacking({ code: 'NONCE_TOO_LOW', got: 1 })).toMatchObject({ message: 'nonce too low', data: { nonce: '0x1' } })
  expect(lacking({ code: 'NONCE_TOO_LOW' })).toMatchObject({ message: 'nonce too low', data: undefined })
})
