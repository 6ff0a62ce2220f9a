import { type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { askNode, type NodeRpc } from '../chain/node-rpc.ts'

/** Frame of a trace of debug_traceTransaction, of the tracer callTracer. */
interface TraceFrame {
  readonly type?: unknown
  readonly to?: unknown
  readonly input?: unknown
  readonly error?: unknown
  readonly calls?: unknown
}

/** Cap on the text of a trace, which holds the calldata of every call. */
const TRACE_CHARACTERS = 16 * 1_024 * 1_024

/**
 * Init code by which a contract was created inside a transaction, from a trace of it; undefined when the node does not trace the
 * transaction: it does not serve traces, or none as long, or the state before it is gone.
 */
export const createdCode = async (node: NodeRpc, transaction: Hex, contract: Hex): Promise<Uint8Array | undefined> => {
  const params = [transaction, { tracer: 'callTracer', timeout: '5s' }]
  const text = await askNode(node, 'debug_traceTransaction', params)
  if (text === undefined || text.length > TRACE_CHARACTERS) return undefined
  const { result } = JSON.parse(text) as { readonly result?: unknown }
  const frames = [result]
  let found: Uint8Array | undefined
  for (let frame = frames.pop(); frame !== undefined; frame = frames.pop()) {
    if (typeof frame !== 'object' || frame === null) continue
    const { type, to, input, error, calls } = frame as TraceFrame
    // Whatever stands below a frame that failed was taken back.
    if (error !== undefined) continue
    const isCreation = type === 'CREATE' || type === 'CREATE2'
    // The last creation counts: a contract may destroy itself and be created again.
    if (isCreation && to === contract && found === undefined && isData(input)) found = hexToBytes(input)
    if (Array.isArray(calls)) frames.push(...calls)
  }
  return found
}

const isData = (value: unknown): value is Hex => typeof value === 'string' && /^0x([0-9a-f]{2})*$/.test(value)
