import { assert } from '@tandem/base/assert.ts'
import { bytesEqual, EMPTY_BYTES, type Hex, toWord, ZERO_HASH } from '@tandem/base/bytes.ts'
import { getOrMake } from '@tandem/base/get-or-make.ts'
import type { Nonce } from '@tandem/base/uint64.ts'
import { delegationTarget } from '../../primitives/transaction/delegation.ts'
import type { Journal } from '../../state/journal/journal.ts'
import { type OpcodeShape, SHAPES } from '../opcodes.ts'
import type { FrameStart, Step, TracedTransaction, Tracer } from '../tracer.ts'
import type { PrestateConfig } from './config.ts'
import { dataJson, type MemoryCounter, objectJson, quantityJson, type TracerContext } from './tracer-context.ts'

const ACCOUNT_BYTES = 400
const SLOT_BYTES = 250

/** Account before the transaction first touched it. */
interface Before {
  readonly balance: bigint
  readonly nonce: Nonce
  readonly code: Uint8Array
  readonly existed: boolean
  readonly storage: Map<Hex, Hex>
}

/** Accounts and slots touched by the transaction, with their earlier values. */
class Touched {
  readonly accounts = new Map<Hex, Before>()
  readonly #state: Journal
  readonly #config: PrestateConfig
  readonly #memory: MemoryCounter

  constructor(state: Journal, config: PrestateConfig, memory: MemoryCounter) {
    this.#state = state
    this.#config = config
    this.#memory = memory
  }

  account(address: Hex): Before {
    return getOrMake(this.accounts, address, () => {
      const state = this.#state
      const code = this.#config.disableCode ? EMPTY_BYTES : state.code(address)
      this.#memory.add(ACCOUNT_BYTES + code.byteLength)
      return {
        balance: state.balance(address),
        nonce: state.nonce(address),
        code,
        existed: state.exists(address) && !state.isEmpty(address),
        storage: new Map(),
      }
    })
  }

  /** Includes its delegate (EIP-7702). */
  called(address: Hex): void {
    this.account(address)
    const target = delegationTarget(this.#state.code(address))
    if (target !== undefined) this.account(target)
  }

  slot(address: Hex, slot: Hex): void {
    const { storage } = this.account(address)
    if (this.#config.disableStorage || storage.has(slot)) return
    this.#memory.add(SLOT_BYTES)
    storage.set(slot, this.#state.storage(address, slot))
  }
}

/** Returns what a step touches once its opcode runs. */
const touchOf = ({ op, stack, stackSize, address }: Step): ((touched: Touched) => void) | undefined => {
  const { slot, account, target, least } = SHAPES[op] as OpcodeShape
  const below = slot ?? account ?? target
  if (below === undefined || stackSize < least) return undefined
  const operand = toWord(stack[stackSize - 1 - below] as bigint)
  if (slot !== undefined) return touched => touched.slot(address, operand)
  const named: Hex = `0x${operand.slice(26)}`
  return target === undefined ? touched => void touched.account(named) : touched => touched.called(named)
}

const watchTransaction = (touched: Touched, { from, to, coinbase, authorities }: TracedTransaction): void => {
  touched.account(from)
  touched.called(to)
  touched.account(coinbase)
  for (const authority of authorities) touched.account(authority)
}

interface Shown {
  readonly balance?: bigint
  readonly nonce?: Nonce
  readonly code?: Uint8Array
  readonly storage?: ReadonlyMap<Hex, Hex>
}

/** Empty members are omitted: nonce 0, no code, no slots. */
const accountJson = ({ balance, code, nonce = 0, storage }: Shown): string => {
  const slots =
    storage && [...storage].sort(([a], [b]) => (a < b ? -1 : 1)).map(([slot, word]) => `"${slot}":"${word}"`)
  return objectJson({
    balance: balance === undefined ? undefined : quantityJson(balance),
    code: code === undefined || code.byteLength === 0 ? undefined : dataJson(code),
    nonce: nonce === 0 ? undefined : String(nonce),
    storage: slots === undefined || slots.length === 0 ? undefined : `{${slots.join(',')}}`,
  })
}

function* accountsJson(accounts: Iterable<readonly [Hex, Shown]>): Iterable<string> {
  let separator = ''
  yield '{'
  for (const [address, account] of accounts) {
    yield `${separator}"${address}":${accountJson(account)}`
    separator = ','
  }
  yield '}'
}

/** Returns the changes of one account: old values of changed slots, and new values; undefined when unchanged. */
const differenceOf = (state: Journal, address: Hex, before: Before, config: PrestateConfig) => {
  const { balance, nonce, code } = before
  const next = { balance: state.balance(address), nonce: state.nonce(address) }
  const nextCode = config.disableCode ? EMPTY_BYTES : state.code(address)
  const changed = [...before.storage].filter(([slot, word]) => state.storage(address, slot) !== word)
  const after: Shown = {
    ...(next.balance !== balance && { balance: next.balance }),
    ...(next.nonce !== nonce && { nonce: next.nonce }),
    ...(!bytesEqual(nextCode, code) && { code: nextCode }),
    ...(changed.length > 0 && {
      storage: new Map(
        changed.map(([slot]) => [slot, state.storage(address, slot)] as const).filter(([, word]) => word !== ZERO_HASH),
      ),
    }),
  }
  if (Object.keys(after).length === 0) return undefined
  return { after, before: { ...before, storage: new Map(changed.filter(([, word]) => word !== ZERO_HASH)) } }
}

/** diffMode of geth: changed accounts with their old values, and only the changed new ones. A destroyed account has no new values. */
const differences = (touched: Touched, state: Journal, config: PrestateConfig) => {
  const pre: [Hex, Shown][] = []
  const post: [Hex, Shown][] = []
  for (const [address, before] of touched.accounts) {
    if (before.existed && !state.exists(address)) {
      pre.push([address, before])
      continue
    }
    if (!state.exists(address)) continue
    const difference = differenceOf(state, address, before, config)
    if (difference === undefined) continue
    post.push([address, difference.after])
    if (before.existed || config.includeEmpty) pre.push([address, difference.before])
  }
  return { pre, post }
}

/** prestateTracer of geth: the accounts and slots a transaction touched, with the values before it; in diffMode its changes. */
export const createPrestateTracer = (config: PrestateConfig, { memory }: TracerContext): Tracer => {
  let state: Journal | undefined
  let touched: Touched | undefined
  let touch: ReturnType<typeof touchOf>
  return {
    begin(transaction, journal) {
      state = journal
      touched = new Touched(journal, config, memory)
      watchTransaction(touched, transaction)
    },
    enter({ type, to, depth }: FrameStart) {
      if (depth > 0 && (type === 'CREATE' || type === 'CREATE2')) touched?.account(to)
    },
    watches: 'named',
    before(step) {
      touch = touchOf(step)
    },
    step(step) {
      const touches = touch ?? touchOf(step)
      touch = undefined
      if (touched !== undefined && step.error === undefined) touches?.(touched)
    },
    *result() {
      assert(state !== undefined && touched !== undefined, 'a trace begins before its result')
      if (!config.diffMode) {
        yield* accountsJson([...touched.accounts].filter(([, { existed }]) => existed || config.includeEmpty))
        return
      }
      const { pre, post } = differences(touched, state, config)
      yield '{"post":'
      yield* accountsJson(post)
      yield ',"pre":'
      yield* accountsJson(pre)
      yield '}'
    },
  }
}
