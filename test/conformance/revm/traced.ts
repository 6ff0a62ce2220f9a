import { type Hex, hexToBytes, ZERO_HASH } from '@tandem/base/bytes.ts'
import { keccak256Hex } from '../../../src/crypto/hash.ts'
import type { Engine } from '../../../src/evm/engine.ts'
import { EMPTY_CODE_HASH } from '../../../src/state/account.ts'
import { Journal } from '../../../src/state/journal/journal.ts'
import { type MemoryState, memoryAccount } from '../../unit/state/memory-state.ts'
import type { RpcRequest, RpcResponse } from './anvil.ts'
import { type ExpectedCall, type RandomMessage, runMessage } from './messages.ts'
import { blockOverridesOf, overridesOf, type RevmOptions, type RevmWorld } from './requests.ts'

/* Messages each on the same state, by debug_traceCall: outcome and logs from its call tracer, the state from its differences. */

interface TracedFrame {
  readonly gasUsed: Hex
  readonly output?: Hex
  readonly error?: string
  readonly logs?: readonly (ExpectedCall['logs'][number] & { readonly index: Hex })[]
  readonly calls?: readonly TracedFrame[]
}

interface TracedAccount {
  readonly balance?: Hex
  readonly nonce?: number
  readonly code?: Hex
  readonly storage?: Readonly<Record<Hex, Hex>>
}
type TracedState = Readonly<Record<Hex, TracedAccount>>

const tracesOf = (call: object, { env }: RevmOptions, state: MemoryState): readonly RpcRequest[] => {
  const overrides = { stateOverrides: overridesOf(state), blockOverrides: blockOverridesOf(env) }
  return [
    { tracer: 'callTracer', tracerConfig: { withLog: true } },
    { tracer: 'prestateTracer', tracerConfig: { diffMode: true } },
  ].map(tracer => ({ method: 'debug_traceCall', params: [call, 'latest', { ...tracer, ...overrides }] }))
}

/** Logs that stay: those of a failed frame and of its calls do not. */
const logsOf = ({ error, logs = [], calls = [] }: TracedFrame): NonNullable<TracedFrame['logs']> =>
  error === undefined ? [...logs, ...calls.flatMap(logsOf)] : []

const callFrom = (frame: TracedFrame): ExpectedCall => ({
  status: frame.error === undefined ? '0x1' : '0x0',
  gasUsed: frame.gasUsed,
  returnData: frame.output ?? '0x',
  logs: [...logsOf(frame)]
    .sort((a, b) => Number(a.index) - Number(b.index))
    .map(({ address, topics, data }) => ({ address, topics, data })),
})

/** The state with a tracer's differences. */
const stateAfter = (before: MemoryState, { pre, post }: { readonly pre: TracedState; readonly post: TracedState }) => {
  const after = before.copy()
  for (const [address, { storage = {} }] of Object.entries(pre) as [Hex, TracedAccount][]) {
    if (post[address] === undefined) after.accounts.delete(address)
    for (const slot of Object.keys(storage) as Hex[]) after.accounts.get(address)?.storage.delete(slot)
  }
  for (const [address, { balance, nonce, code, storage = {} }] of Object.entries(post) as [Hex, TracedAccount][]) {
    const account = after.accounts.get(address) ?? memoryAccount()
    after.accounts.set(address, account)
    if (balance !== undefined) account.balance = BigInt(balance)
    if (nonce !== undefined) account.nonce = nonce
    if (code !== undefined) account.codeHash = keccak256Hex(hexToBytes(code))
    for (const [slot, word] of Object.entries(storage) as [Hex, Hex][])
      if (word !== ZERO_HASH) account.storage.set(slot, word)
  }
  return after
}

/** Text of all accounts but the empty ones. */
const stateText = (state: MemoryState): string =>
  [...state.accounts]
    .filter(([, { balance, nonce, codeHash }]) => balance > 0n || nonce !== 0 || codeHash !== EMPTY_CODE_HASH)
    .map(([address, { balance, nonce, codeHash, storage }]) =>
      [address, balance, nonce, codeHash, ...[...storage].sort().map(slot => slot.join('='))].join(' '),
    )
    .sort()
    .join('\n')

export const traced = async (
  engine: Engine,
  options: RevmOptions,
  state: MemoryState,
  messages: readonly RandomMessage[],
): Promise<RevmWorld> => {
  const runs: {
    readonly expected: ExpectedCall
    readonly after: MemoryState
    readonly requests: readonly RpcRequest[]
  }[] = []
  for (const message of messages) {
    const journal = new Journal(state)
    const run = await runMessage(engine, journal, options.env, message)
    if (run === undefined) continue
    const { call, expected } = run
    runs.push({ expected, after: state.with(journal.changes()), requests: tracesOf(call, options, state) })
  }
  return {
    messages: runs.length,
    succeeded: runs.filter(({ expected }) => expected.status === '0x1').length,
    requests: runs.flatMap(({ requests }) => requests),
    difference: responses => {
      for (const [i, { expected, after, requests }] of runs.entries()) {
        const found = tracedDifference(state, expected, after, responses.slice(2 * i, 2 * i + 2))
        if (found !== undefined)
          return [`SEED=${options.seed} message ${i}\n${found}`, JSON.stringify(requests)].join('\n')
      }
      return undefined
    },
  }
}

const tracedDifference = (
  before: MemoryState,
  expected: ExpectedCall,
  after: MemoryState,
  [frame, changes]: readonly RpcResponse[],
): string | undefined => {
  if (frame?.result === undefined || changes?.result === undefined)
    return `refused: ${JSON.stringify([frame?.error, changes?.error])}`
  const pairs = [
    [JSON.stringify(expected), JSON.stringify(callFrom(frame.result as TracedFrame))],
    [stateText(after), stateText(stateAfter(before, changes.result as { pre: TracedState; post: TracedState }))],
  ]
  const different = pairs.find(([ours, theirs]) => ours !== theirs)
  return different && `ours:   ${different[0]}\ntheirs: ${different[1]}`
}
