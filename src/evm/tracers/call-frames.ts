import { bytesToHex, copyBytes, type Hex } from '@tandem/base/bytes.ts'
import { REASON } from '../failure-reasons.ts'
import { revertReason } from '../revert-reason.ts'
import type { FrameEnd, FrameStart, FrameType, TracedLog, TracedTransaction, TransactionEnd } from '../tracer.ts'
import type { MemoryCounter } from './tracer-context.ts'

/** Log with its block-wide index, and the number of inner calls of its frame before it. */
export interface FrameLog extends TracedLog {
  readonly index: number
  readonly position: number
}

/** Call with its inner calls. Bytes are hex, since their memory is reused. */
export interface CallFrame {
  readonly type: FrameType
  readonly from: Hex
  /** undefined: a creation that failed. */
  to: Hex | undefined
  readonly input: Hex
  readonly value: bigint | undefined
  readonly gas: bigint
  gasUsed: bigint
  output: Hex | undefined
  error: string | undefined
  revertReason: string | undefined
  readonly calls: CallFrame[]
  logs: FrameLog[]
}

const FRAME_BYTES = 400
const LOG_BYTES = 300

interface CallTreeOptions {
  readonly memory: MemoryCounter
  /** Keeps only the transaction's own message. */
  readonly onlyTop: boolean
  readonly withLogs: boolean
}

/** Collects the frames of one transaction into a tree. Its memory is counted: a transaction can make a million of them. */
export class CallTree {
  readonly #options: CallTreeOptions
  readonly #path: CallFrame[] = []
  readonly #gasLimit: bigint
  /** Number of logs of the block so far, and at the start of each frame under way. */
  #logs: number
  readonly #marks: number[] = []
  #depth = 0
  root: CallFrame | undefined = undefined

  constructor(options: CallTreeOptions, { gasLimit, logsBefore }: Pick<TracedTransaction, 'gasLimit' | 'logsBefore'>) {
    this.#options = options
    this.#gasLimit = gasLimit
    this.#logs = logsBefore
  }

  enter(start: FrameStart): void {
    this.#depth = start.depth
    this.#marks.push(this.#logs)
    if (this.#options.onlyTop && start.depth > 0) return
    this.#options.memory.add(FRAME_BYTES + start.input.byteLength * 2)
    const { depth, type, from, to, gas, value } = start
    const frame: CallFrame = {
      type,
      from,
      to,
      input: bytesToHex(start.input),
      value,
      gas: depth === 0 ? this.#gasLimit : gas,
      gasUsed: 0n,
      output: undefined,
      error: undefined,
      revertReason: undefined,
      calls: [],
      logs: [],
    }
    const parent = this.#path.at(-1)
    if (parent === undefined) this.root = frame
    else parent.calls.push(frame)
    this.#path.push(frame)
  }

  log(log: TracedLog): void {
    const { withLogs, onlyTop, memory } = this.#options
    const index = this.#logs++
    if (!withLogs || (onlyTop && this.#depth > 0)) return
    const frame = this.#path.at(-1)
    memory.add(LOG_BYTES + log.data.byteLength)
    frame?.logs.push({ ...log, data: copyBytes(log.data), index, position: frame.calls.length })
  }

  exit(end: FrameEnd): CallFrame | undefined {
    this.#depth = end.depth - 1
    // Logs of a failed frame are removed, and their indexes reused.
    const logsBefore = this.#marks.pop() ?? 0
    if (end.error !== undefined) this.#logs = logsBefore
    if (this.#options.onlyTop && end.depth > 0) return undefined
    const frame = this.#path.pop()
    if (frame === undefined) return undefined
    this.#options.memory.add(end.output.byteLength * 2)
    finishFrame(frame, end)
    return frame
  }

  /** Removes the last ended frame. */
  dropLast(): void {
    this.#path.at(-1)?.calls.pop()
  }

  end({ gasUsed }: TransactionEnd): void {
    if (this.root === undefined) return
    this.root.gasUsed = gasUsed
    if (this.#options.withLogs) dropFailedLogs(this.root)
  }
}

const finishFrame = (frame: CallFrame, { output, gasUsed, error }: FrameEnd): void => {
  frame.gasUsed = gasUsed
  if (error === undefined) {
    if (output.byteLength > 0) frame.output = bytesToHex(output)
    return
  }
  frame.error = error
  if (frame.type === 'CREATE' || frame.type === 'CREATE2') frame.to = undefined
  if (error !== REASON.revert || output.byteLength === 0) return
  frame.output = bytesToHex(output)
  frame.revertReason = revertReason(output)
}

/** Removes the logs of failed frames and of all frames inside them. */
const dropFailedLogs = (root: CallFrame): void => {
  const waiting: { readonly frame: CallFrame; readonly failed: boolean }[] = [{ frame: root, failed: false }]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { frame } = next
    const failed = next.failed || frame.error !== undefined
    if (failed) frame.logs = []
    for (const call of frame.calls) waiting.push({ frame: call, failed })
  }
}
