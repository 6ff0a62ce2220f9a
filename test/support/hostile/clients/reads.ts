import type { Hex } from '@tandem/base/bytes.ts'
import { ask, batchOf, bytesOf, call, dial, ended, MOST, post, pour, wideCriteria } from './http.ts'
import { type Attack, count, idle, lanes, type Scene } from './scene.ts'

const SOME: Hex = `0x${'11'.repeat(20)}`

/** All blocks for a thousand addresses, a batch as large as a body may be. */
export const logBatches: Attack = scene =>
  lanes(scene, 4, async () => {
    const one = wideCriteria(1_000, 0)
    const each = JSON.stringify(one).length + 60
    await ask(
      scene,
      batchOf(Math.min(100, Math.floor(MOST / each)), id => call('eth_getLogs', [one], id)),
    )
  })

/** Everything logged, by nobody in particular, many at a time; most ask for more than is answered. */
export const logs: Attack = scene =>
  lanes(scene, 16, async (lane, round) => {
    const { loggers, lastBlock, logged } = scene.target
    const hash = `0x${(round % (lastBlock + 1)).toString(16)}`
    const criteria = [
      { fromBlock: '0x0', toBlock: 'latest' },
      { fromBlock: '0x0', toBlock: 'latest', address: loggers },
      { fromBlock: hash, toBlock: hash },
      { fromBlock: '0x0', toBlock: 'latest', ...(lane % 2 === 0 && wideCriteria()) },
    ][(lane + round) % 4]
    await ask(scene, call('eth_getLogs', [criteria]))
    await ask(scene, call('eth_getTransactionReceipt', [logged[round % logged.length]]))
  })

/** JUMPDEST, PUSH 0, JUMP: for ever. */
const LOOP = '0x5b5f56'
/** Memory of megabytes, in frames within frames: MSIZE-th word, then a call of itself with all gas. */
const MEMORY = '0x6207ffff51505f5f5f5f5f305af100'
/** Hashes of a hundred thousand bytes, for ever. */
const KECCAK = '0x5b620186a05f20505f56'

const overridden = (code: string) => [{ to: SOME, gas: '0x5f5e100' }, 'latest', { [SOME]: { code } }]

/** Calls and estimates that take all they may have, singly and in batches. */
export const calls: Attack = scene =>
  lanes(scene, 16, async (lane, round) => {
    const code = [LOOP, MEMORY, KECCAK][(lane + round) % 3] as string
    const method = ['eth_call', 'eth_estimateGas', 'eth_createAccessList'][round % 3] as string
    if (lane % 4 === 0)
      await ask(
        scene,
        batchOf(1_000, id => call(method, overridden(code), id)),
      )
    else await ask(scene, call(method, overridden(code)))
  })

/** Overrides of a hundred thousand slots, and calldata of megabytes. */
export const wideCalls: Attack = scene =>
  lanes(scene, 8, async lane => {
    const state = Object.fromEntries(Array.from({ length: 30_000 }, () => [bytesOf(32), bytesOf(32)]))
    const [to, data] = [SOME, `0x${'00'.repeat(2_000_000)}`]
    if (lane % 2 === 0) await ask(scene, call('eth_call', [{ to }, 'latest', { [to]: { state, code: LOOP } }]))
    else await ask(scene, call('eth_call', [{ to, data, gas: '0x5f5e100' }, 'latest', { [to]: { code: LOOP } }]))
  })

/** Whole simulations of as much as they may hold. */
export const simulations: Attack = scene =>
  lanes(scene, 8, async () => {
    const blockStateCalls = Array.from({ length: 200 }, () => ({
      stateOverrides: { [SOME]: { code: LOOP } },
      calls: Array.from({ length: 20 }, () => ({ to: SOME, gas: '0xf4240' })),
    }))
    await ask(scene, call('eth_simulateV1', [{ blockStateCalls, traceTransfers: true }, 'latest']))
  })

const TRACE_METHODS = ['debug_traceCall', 'debug_traceTransaction', 'debug_traceBlockByNumber'] as const

const traceOf = (scene: Scene, round: number): string => {
  const { logged } = scene.target
  const method = TRACE_METHODS[round % 3] as (typeof TRACE_METHODS)[number]
  const config = [{ enableMemory: true }, {}, { tracer: 'callTracer' }, { tracer: 'prestateTracer' }][round % 4]
  if (method === 'debug_traceTransaction') return call(method, [logged[round % logged.length], config])
  if (method === 'debug_traceBlockByNumber') return call(method, ['latest', config])
  const overrides = { [SOME]: { code: round % 2 === 0 ? LOOP : MEMORY } }
  return call(method, [{ to: SOME, gas: '0x5f5e100' }, 'latest', { ...config, stateOverrides: overrides }])
}

/** Traces: read to the end, left in the middle, never read, and a batch of them. */
export const traces: Attack = scene =>
  lanes(scene, 12, async (lane, round) => {
    if (lane % 4 === 0)
      return ask(
        scene,
        batchOf(1_000, id => traceOf(scene, id)),
      )
    const socket = await dial(scene)
    if (lane % 4 !== 1) socket.resume()
    await pour(socket, post(traceOf(scene, lane + round)))
    await Promise.race([ended(socket), idle(scene, 1_000)])
    socket.destroy()
    count(scene, 'left')
    return undefined
  })

/** Expensive reads that are neither calls nor traces, a thousand at once. */
export const lookups: Attack = scene =>
  lanes(scene, 6, async (lane, round) => {
    const { loggers, lastBlock } = scene.target
    const slots = Array.from({ length: 1_000 }, () => bytesOf(32))
    const some = `0x${scene.random.below(lastBlock + 1).toString(16)}`
    const [many, one] = (
      [
        [50, ['eth_getProof', [loggers[0] ?? SOME, slots, 'latest']]],
        [1_000, ['eth_getProof', [SOME, [], 'latest']]],
        [1_000, ['eth_feeHistory', ['0x400', 'latest', Array.from({ length: 100 }, (_, i) => i)]]],
        [1_000, ['eth_getBlockByNumber', [some, true]]],
        [1_000, ['eth_getBlockReceipts', [some]]],
        [1_000, ['rpc.discover', []]],
        [1_000, ['native_getBlockWithConsensusInfoRange', ['0x0', '0x63']]],
        [1_000, ['txpool_content', []]],
        [1_000, ['debug_accountRange', ['latest', '0x', 256, false, false, false]]],
        [1_000, ['debug_getModifiedAccountsByNumber', ['0x1', 'latest']]],
        [1_000, ['eth_getFilterChanges', [bytesOf(16)]]],
        [1_000, ['eth_getStorageAt', [SOME, '0x0', 'pending']]],
        [1_000, ['eth_getBlockByNumber', ['pending', true]]],
      ] as const
    )[(lane + round) % 13] ?? [1, ['eth_chainId', []]]
    await ask(
      scene,
      batchOf(many, id => call(one[0], one[1], id)),
    )
  })

/** Answers of megabytes on connections that never read them. */
export const unread: Attack = scene =>
  lanes(scene, 60, async (lane, round) => {
    const { loggers, logged, lastBlock } = scene.target
    const socket = await dial(scene)
    socket.pause()
    const range = { fromBlock: '0x0', toBlock: 'latest', address: loggers[0] }
    const bodies = [
      call('eth_getLogs', [range]),
      call('eth_getTransactionReceipt', [logged[round % logged.length]]),
      batchOf(1_000, id => call('rpc.discover', [], id)),
      batchOf(1_000, id => call('eth_getBlockByNumber', [`0x${(id % lastBlock).toString(16)}`, true], id)),
      `{"method":"eth_chainId","id":"${'x'.repeat(MOST - 100)}"}`,
    ]
    for (let i = 0; i < 5; i++) void pour(socket, post(bodies[(lane + i) % bodies.length] as string))
    await Promise.race([ended(socket), idle(scene, 10_000)])
    socket.destroy()
    count(scene, 'left unread')
  })

/** As many filters as there are, of all kinds and sizes, and they are polled. */
export const filters: Attack = scene =>
  lanes(scene, 4, async (lane, round) => {
    const kind = ['eth_newFilter', 'eth_newBlockFilter', 'eth_newPendingTransactionFilter'][round % 3] as string
    if (lane === 0) await ask(scene, call('eth_newFilter', [wideCriteria()]))
    else
      await ask(
        scene,
        batchOf(1_000, id => call(kind, kind === 'eth_newFilter' ? [{ address: bytesOf(20) }] : [], id)),
      )
  })
