import { asBuffer } from '@tandem/base/bytes.ts'
import type { FrameType, TracedTransaction, Tracer } from '../tracer.ts'
import type { TracerContext } from './tracer-context.ts'

const CALLS: ReadonlySet<FrameType> = new Set(['CALL', 'CALLCODE', 'DELEGATECALL', 'STATICCALL'])
const ENTRY_BYTES = 100

/**
 * 4byteTracer of geth: selectors with the size of their arguments, and the number of calls. Calls to precompiles are not
 * counted.
 */
export const createFourByteTracer = ({ memory }: TracerContext): Tracer => {
  const counts = new Map<string, number>()
  let traced: TracedTransaction | undefined
  return {
    begin(transaction) {
      traced = transaction
    },
    enter({ type, to, input }) {
      if (input.byteLength < 4 || !CALLS.has(type) || traced?.precompiles.has(to)) return
      const key = `0x${asBuffer(input).hexSlice(0, 4)}-${input.byteLength - 4}`
      const count = counts.get(key)
      if (count === undefined) memory.add(ENTRY_BYTES)
      counts.set(key, (count ?? 0) + 1)
    },
    *result() {
      yield JSON.stringify(Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1))))
    },
  }
}
