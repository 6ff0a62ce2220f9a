import type { Hex } from '@tandem/base/bytes.ts'
import { isForkSince } from '../../../../src/config/forks.ts'
import type { Engine } from '../../../../src/evm/engine.ts'
import { Journal } from '../../../../src/state/journal/journal.ts'
import { createRandom } from '../../../property/executor-plans.ts'
import type { MemoryState } from '../../../unit/state/memory-state.ts'
import { DELEGATED, randomCase, SENDER } from '../cases.ts'
import type { RpcResponse } from './anvil.ts'
import { lookAt } from './looks.ts'
import { addAuthorities, type ExpectedCall, messagesOf, type RandomMessage, runMessage } from './messages.ts'
import { blockOverridesOf, overridesOf, type RevmOptions, type RevmWorld } from './requests.ts'
import { traced } from './traced.ts'

/* A random world and messages to it, run here, and written as requests to another EVM. */

/** Balance that pays for every message at its price. */
const PURSE = 10n ** 15n

/** Precompiles have no code that could look at them. */
const isPrecompile = (address: Hex): boolean => BigInt(address) < 0x1_0000n

/** Makes the world of a seed and runs its messages on an engine. */
export const revmWorld = (engine: Engine, options: RevmOptions): Promise<RevmWorld> => {
  const random = createRandom(options.seed)
  const made = randomCase(random, options.contracts, options.fork)
  const sender = made.state.accounts.get(SENDER)
  if (sender !== undefined) sender.balance += PURSE
  // revm follows a delegation under older rules too, where no account can have one.
  if (isForkSince(options.fork, 'prague')) addAuthorities(made.state)
  else made.state.accounts.delete(DELEGATED)
  // anvil simulates no creations by transactions.
  const creates = made.message.to === null
  const messages = messagesOf(made, creates ? options.creations : options.messages, random)
  return (creates ? traced : simulated)(engine, options, made.state, messages)
}

const simulated = async (
  engine: Engine,
  { seed, env }: RevmOptions,
  state: MemoryState,
  messages: readonly RandomMessage[],
): Promise<RevmWorld> => {
  const journal = new Journal(state)
  const calls: object[] = []
  const expected: ExpectedCall[] = []
  for (const message of messages) {
    const run = await runMessage(engine, journal, env, message)
    if (run === undefined) continue
    calls.push(run.call)
    expected.push(run.expected)
  }
  const changes = journal.changes()
  const touched = new Set([...state.accounts.keys(), ...changes.accounts.keys(), ...changes.storage.keys()])
  const looks = lookAt(
    state.with(changes),
    [...touched].filter(address => !isPrecompile(address)),
    new Map([...changes.storage].map(([address, slots]) => [address, slots.keys()])),
  )
  const first = { blockOverrides: blockOverridesOf(env), stateOverrides: overridesOf(state), calls }
  const request = { method: 'eth_simulateV1', params: [{ blockStateCalls: [first, ...looks.blocks] }, 'latest'] }
  return {
    messages: calls.length,
    succeeded: expected.filter(({ status }) => status === '0x1').length,
    requests: [request],
    difference: ([response]) => {
      const found = simulatedDifference([expected, ...looks.expected], response)
      return found && [`SEED=${seed} ${found}`, JSON.stringify(request)].join('\n')
    },
  }
}

type SimulatedBlocks = readonly { readonly calls: readonly Readonly<Record<string, unknown>>[] }[]

const plainLogs = (logs: unknown): unknown =>
  (logs as ExpectedCall['logs'] | undefined)?.map(({ address, topics, data }) => ({ address, topics, data }))

const simulatedDifference = (
  expected: readonly (readonly (ExpectedCall | { readonly returnData: Hex })[])[],
  response: RpcResponse | undefined,
): string | undefined => {
  if (response?.result === undefined) return `refused: ${JSON.stringify(response?.error)}`
  const blocks = response.result as SimulatedBlocks
  for (const [number, calls] of expected.entries())
    for (const [index, ours] of calls.entries()) {
      const call = blocks[number]?.calls[index] ?? {}
      const theirs = Object.fromEntries(
        Object.keys(ours).map(key => [key, key === 'logs' ? plainLogs(call[key]) : call[key]]),
      )
      const [a, b] = [JSON.stringify(ours), JSON.stringify(theirs)]
      if (a !== b) return `block ${number} call ${index}\nours:   ${a}\ntheirs: ${b}`
    }
  return undefined
}
