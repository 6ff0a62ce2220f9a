import { assert } from '@tandem/base/assert.ts'
import { REASON } from '../failure-reasons.ts'
import type { TracedTransaction, Tracer } from '../tracer.ts'
import { type CallFrame, CallTree } from './call-frames.ts'
import type { FlatCallTracerConfig } from './config.ts'
import { objectJson, quantityJson, quotedJson, type TracerContext } from './tracer-context.ts'

/** OpenEthereum's error texts, by the beginning of this node's. */
const PARITY_ERRORS: readonly (readonly [string, string])[] = [
  ['contract creation code storage out of gas', 'Out of gas'],
  [REASON.outOfGas, 'Out of gas'],
  [REASON.codeTooLarge, 'Out of gas'],
  [REASON.invalidJump, 'Bad jump destination'],
  [REASON.revert, 'Reverted'],
  ['return data out of bounds', 'Out of bounds'],
  [REASON.stackOverflow, 'Out of stack'],
  [REASON.stackUnderflow, 'Stack underflow'],
  [REASON.invalidOpcode, 'Bad instruction'],
  ['precompiled failed', 'Built-in failed'],
  ['invalid input length', 'Built-in failed'],
]

const parityError = (error: string): string => PARITY_ERRORS.find(([start]) => error.startsWith(start))?.[1] ?? error

const isCreation = ({ type }: CallFrame): boolean => type === 'CREATE' || type === 'CREATE2'

const kindOf = (frame: CallFrame): string => {
  if (frame.type === 'SELFDESTRUCT') return 'suicide'
  return isCreation(frame) ? 'create' : 'call'
}

const actionJson = (frame: CallFrame): string => {
  const { type, from, to, input, gas, value = 0n } = frame
  if (type === 'SELFDESTRUCT')
    return objectJson({ address: quotedJson(from), balance: quantityJson(value), refundAddress: quotedJson(to) })
  const common = { from: quotedJson(from), gas: quantityJson(gas), value: quantityJson(value) }
  return isCreation(frame)
    ? objectJson({ creationMethod: `"${type.toLowerCase()}"`, ...common, init: quotedJson(input) })
    : objectJson({ callType: `"${type.toLowerCase()}"`, ...common, input: quotedJson(input), to: quotedJson(to) })
}

/** A failure has no result except the data of a revert. */
const resultJson = (frame: CallFrame): string | undefined => {
  const { type, to, gasUsed, output = '0x', error } = frame
  if (type === 'SELFDESTRUCT' || (error !== undefined && error !== REASON.revert)) return undefined
  const gas = { gasUsed: quantityJson(gasUsed) }
  return isCreation(frame)
    ? objectJson({ address: quotedJson(to), code: quotedJson(output), ...gas })
    : objectJson({ ...gas, output: quotedJson(output) })
}

/** Yields the frames in the order of their start, each with its position in the tree. */
function* flatJson(
  root: CallFrame,
  { convertParityErrors }: FlatCallTracerConfig,
  place: Readonly<Record<string, string>>,
): Iterable<string> {
  /** `next`: index of the call under way, -1 before the first. */
  const path = [{ frame: root, next: -1 }]
  let separator = '['
  for (let at = path.at(-1); at !== undefined; at = path.at(-1)) {
    const { frame } = at
    if (at.next < 0) {
      const error = frame.error === undefined || !convertParityErrors ? frame.error : parityError(frame.error)
      const traceAddress = path.slice(0, -1).map(({ next }) => next)
      yield separator +
        objectJson({
          action: actionJson(frame),
          ...place,
          error: quotedJson(error),
          result: resultJson(frame),
          subtraces: String(frame.calls.length),
          traceAddress: `[${traceAddress.join(',')}]`,
          type: `"${kindOf(frame)}"`,
        })
      separator = ','
    }
    const call = frame.calls[++at.next]
    if (call === undefined) path.pop()
    else path.push({ frame: call, next: -1 })
  }
  yield ']'
}

const placeOf = ({ blockHash, blockNumber, hash, index }: TracedTransaction): Readonly<Record<string, string>> => ({
  blockHash: JSON.stringify(blockHash),
  blockNumber: String(blockNumber),
  transactionHash: JSON.stringify(hash),
  transactionPosition: String(index),
})

/** flatCallTracer of geth: the calls as OpenEthereum lists them, without those to precompiles. */
export const createFlatCallTracer = (config: FlatCallTracerConfig, { memory }: TracerContext): Tracer => {
  let tree: CallTree | undefined
  let traced: TracedTransaction | undefined
  const isHidden = (frame: CallFrame): boolean =>
    !config.includePrecompiles &&
    (frame.type === 'CALL' || frame.type === 'STATICCALL') &&
    frame.to !== undefined &&
    traced?.precompiles.has(frame.to) === true
  return {
    begin(transaction) {
      traced = transaction
      tree = new CallTree({ memory, onlyTop: false, withLogs: false }, transaction)
    },
    enter: frame => tree?.enter(frame),
    exit(end) {
      const frame = tree?.exit(end)
      if (frame !== undefined && end.depth > 0 && isHidden(frame)) tree?.dropLast()
    },
    end: end => tree?.end(end),
    result() {
      assert(tree?.root !== undefined && traced !== undefined, 'a transaction has a message')
      return flatJson(tree.root, config, placeOf(traced))
    },
  }
}
