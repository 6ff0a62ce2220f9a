import { type Hex, ZERO_ADDRESS } from '@tandem/base/bytes.ts'
import { askResult } from '../chain/node-rpc.ts'
import { checksumAddress } from '../keccak.ts'
import { knownFunctionName } from '../verification/abi/known-signatures.ts'
import type { PageContext } from './page-route.ts'

/** One call between contracts, as the call tracer describes it. */
export interface TracedCall {
  readonly type: string
  readonly from: string
  readonly to: string | null
  readonly valueWei: bigint
  readonly gasUsed: bigint
  readonly depth: number
  readonly error: string | null
  /** Function by its name or selector; null: none is called. */
  readonly method: string | null
}

interface CallFrame {
  readonly type?: string
  readonly from?: string
  readonly to?: string
  readonly value?: string
  readonly gasUsed?: string
  readonly input?: string
  readonly error?: string
  readonly revertReason?: string
  readonly calls?: readonly CallFrame[]
}

/** Calls on one page. */
const MAX_CALLS = 200

/** Result of the node's own method; undefined when it is not served, not for this transaction, or is too long. */
const trace = async ({ node }: Pick<PageContext, 'node'>, hash: Hex): Promise<CallFrame | undefined> => {
  const result = await askResult(node, 'debug_traceTransaction', [hash, { tracer: 'callTracer' }], 'traces')
  return typeof result === 'object' && result !== null ? (result as CallFrame) : undefined
}

/** Calls of a transaction in the order they were made; undefined when the node cannot tell. */
export const callsOf = async (
  context: Pick<PageContext, 'node'>,
  hash: Hex,
): Promise<{ readonly calls: readonly TracedCall[]; readonly isCut: boolean } | undefined> => {
  const top = await trace(context, hash)
  if (top === undefined) return undefined
  const calls: TracedCall[] = []
  const waiting: { readonly frame: CallFrame; readonly depth: number }[] = [{ frame: top, depth: 0 }]
  while (calls.length < MAX_CALLS) {
    const next = waiting.pop()
    if (next === undefined) return { calls, isCut: false }
    const { frame, depth } = next
    calls.push(callOf(frame, depth))
    for (const inner of [...(frame.calls ?? [])].reverse()) waiting.push({ frame: inner, depth: depth + 1 })
  }
  return { calls, isCut: waiting.length > 0 }
}

const SELECTOR_CHARS = 10

const callOf = (
  { type, from, to, value, gasUsed, input, error, revertReason }: CallFrame,
  depth: number,
): TracedCall => ({
  type: type ?? 'CALL',
  from: checksumAddress((from ?? ZERO_ADDRESS) as Hex),
  to: to === undefined ? null : checksumAddress(to as Hex),
  valueWei: BigInt(value ?? '0x0'),
  gasUsed: BigInt(gasUsed ?? '0x0'),
  depth,
  error: revertReason ?? error ?? null,
  method: type?.startsWith('CREATE') === true ? null : methodOf(input),
})

/** Name of the function that calldata calls, or its selector. */
const methodOf = (input: string | undefined): string | null => {
  if (input === undefined || input.length < SELECTOR_CHARS) return null
  const selector = input.slice(0, SELECTOR_CHARS) as Hex
  return knownFunctionName(selector) ?? selector
}
