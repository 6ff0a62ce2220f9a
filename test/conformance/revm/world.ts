import { type Hex, toQuantity, toWord, ZERO_HASH } from '@tandem/base/bytes.ts'
import { MAX_UINT64 } from '@tandem/base/uint64.ts'
import { isForkSince } from '../../../src/config/forks.ts'
import type { Engine } from '../../../src/evm/engine.ts'
import { createAddress } from '../../../src/primitives/receipt/address.ts'
import { EMPTY_CODE_HASH } from '../../../src/state/account.ts'
import { Journal } from '../../../src/state/journal/journal.ts'
import { DELEGATED, randomCase, SENDER } from '../../property/evm/cases.ts'
import { createRandom } from '../../property/executor-plans.ts'
import type { MemoryState } from '../../unit/state/memory-state.ts'
import type { RpcResponse } from './anvil.ts'
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

/*
 * Two more blocks of a simulation that look at the state: balances and code hashes of all accounts first, then each account's slots, by code
 * put in its place, and the address that it would create next, which tells its nonce.
 */

/** Accounts of the looking calls, which no program knows. */
const LOOKER: Hex = `0x${'70'.repeat(20)}`
const OBSERVER: Hex = `0x${'71'.repeat(20)}`
const LOOK_GAS = toQuantity(10_000_000)
/** Number of slots that are looked at even where nothing was written. */
const FIRST_SLOTS = 6

const push2 = (value: number): string => `61${value.toString(16).padStart(4, '0')}`
/** Code that returns the words that each of these pieces of code puts on the stack. */
const returning = (pieces: readonly string[]): Hex =>
  `0x${pieces.map((piece, i) => `${piece}${push2(32 * i)}52`).join('')}${push2(32 * pieces.length)}6000f3`

const concat = (words: readonly Hex[]): Hex => `0x${words.map(word => word.slice(2)).join('')}`

/** Creates without init code: leaves the new address. */
const CREATE_NOTHING = '600060006000f0'

interface Looks {
  readonly blocks: readonly object[]
  readonly expected: readonly (readonly { readonly returnData: Hex }[])[]
}

/** The blocks and what they must return; `slots` are looked at beside those that are there. */
const lookAt = (state: MemoryState, addresses: readonly Hex[], slots: ReadonlyMap<Hex, Iterable<Hex>>): Looks => {
  const looks = addresses.flatMap(address => [`73${address.slice(2)}31`, `73${address.slice(2)}3f`])
  const seen = addresses.flatMap(address => {
    const { nonce = 0, balance = 0n, codeHash = EMPTY_CODE_HASH } = state.accounts.get(address) ?? {}
    const isEmpty = nonce === 0 && balance === 0n && codeHash === EMPTY_CODE_HASH
    return [toWord(balance), isEmpty ? ZERO_HASH : codeHash]
  })
  const keysOf = (address: Hex): readonly Hex[] => {
    const first = Array.from({ length: FIRST_SLOTS }, (_, i) => toWord(BigInt(i)))
    const there = state.accounts.get(address)?.storage.keys() ?? []
    return [...new Set([...first, ...there, ...(slots.get(address) ?? [])])]
  }
  const readers = addresses.map(address => {
    const pieces = [...keysOf(address).map(key => `7f${key.slice(2)}54`), CREATE_NOTHING]
    return [address, { code: returning(pieces) }] as const
  })
  const read = addresses.map(address => {
    const nonce = state.accounts.get(address)?.nonce ?? 0
    const next = BigInt(nonce) >= MAX_UINT64 ? ZERO_HASH : toWord(BigInt(createAddress(address, nonce)))
    return { returnData: concat([...keysOf(address).map(key => state.storage(address, key)), next]) }
  })
  const look = (to: Hex): object => ({ from: OBSERVER, to, gas: LOOK_GAS, gasPrice: '0x0' })
  return {
    blocks: [
      { stateOverrides: { [LOOKER]: { code: returning(looks) } }, calls: [look(LOOKER)] },
      { stateOverrides: Object.fromEntries(readers), calls: addresses.map(look) },
    ],
    expected: [[{ returnData: concat(seen) }], read],
  }
}
