import { assert } from '@tandem/base/assert.ts'
import { asBuffer, copyBytes, type Hex, toWord } from '@tandem/base/bytes.ts'
import { getOrMake } from '@tandem/base/get-or-make.ts'
import type { Journal } from '../../state/journal/journal.ts'
import { REASON } from '../failure-reasons.ts'
import { type OpcodeShape, SHAPES } from '../opcodes.ts'
import type { FrameEnd, Step, Tracer } from '../tracer.ts'
import type { StructLogConfig } from './config.ts'
import { dataJson, type TracerContext } from './tracer-context.ts'

const WORD_DIGITS = 64
const ZERO_WORD = `"${toWord(0n)}"`

const shapeOf = (op: number): OpcodeShape => SHAPES[op] as OpcodeShape

/** JSON of the stack, cached since most of it stays the same from step to step. */
const createStackText = () => {
  const values: bigint[] = []
  const texts: string[] = []
  return ({ stack, stackSize }: Step): string => {
    for (let i = 0; i < stackSize; i++) {
      const value = stack[i] as bigint
      if (values[i] === value) continue
      values[i] = value
      texts[i] = `"0x${value.toString(16)}"`
    }
    texts.length = stackSize
    values.length = stackSize
    return texts.join(',')
  }
}

/** Memory as words; unwritten memory is zero. */
const memoryText = ({ memory, memorySize }: Step): string => {
  const hex = asBuffer(memory).hexSlice(0, Math.min(memorySize, memory.byteLength))
  const words: string[] = []
  for (let at = 0; at < memorySize * 2; at += WORD_DIGITS)
    words.push(at < hex.length ? `"0x${hex.slice(at, at + WORD_DIGITS)}"` : ZERO_WORD)
  return words.join(',')
}

/** Slots that the code has read or written so far, by contract; repeated at every further access. */
const createSlots = () => {
  const contracts = new Map<Hex, Map<Hex, Hex>>()
  return (step: Step, state: Journal): string => {
    const { op, address, stack, stackSize } = step
    const slot = toWord(stack[stackSize - 1] as bigint)
    const slots = getOrMake(contracts, address, () => new Map<Hex, Hex>())
    slots.set(
      slot,
      shapeOf(op).writes
        ? toWord(stack[stackSize - 2] as bigint)
        : (step.storage?.(slot) ?? state.storage(address, slot)),
    )
    let text = ''
    for (const [key, word] of slots) text += `${text === '' ? '' : ','}"${key}":"${word}"`
    return text
  }
}

const touchesStorage = ({ op, stackSize }: Step): boolean =>
  shapeOf(op).slot !== undefined && stackSize >= shapeOf(op).least

const createLine = (config: StructLogConfig) => {
  const stackText = createStackText()
  const slotsText = createSlots()
  /** Members that show the state before the opcode. */
  const before = (step: Step, state: Journal): string => {
    const { returnData } = step
    let line = ''
    if (!config.disableStack) line += `,"stack":[${stackText(step)}]`
    if (config.enableReturnData && returnData.byteLength > 0) line += `,"returnData":${dataJson(returnData)}`
    if (config.enableMemory && step.memorySize > 0) line += `,"memory":[${memoryText(step)}]`
    if (!config.disableStorage && touchesStorage(step)) line += `,"storage":{${slotsText(step, state)}}`
    return line
  }
  const line = ({ pc, name, gas, cost, depth, error, refund }: Step, shown: string): string => {
    const fault = error === undefined ? '' : `,"error":${JSON.stringify(error)}`
    const counter = refund === 0n ? '' : `,"refund":${refund}`
    return `{"pc":${pc},"op":"${name}","gas":${gas},"gasCost":${cost},"depth":${depth}${fault}${shown}${counter}}`
  }
  return { before, line }
}

/** One entry per opcode, written during the execution: nothing is kept, so the totals come last. */
export const createStructLogger = (config: StructLogConfig, { output }: TracerContext): Tracer => {
  const { before, line } = createLine(config)
  let shown: string | undefined
  let state: Journal | undefined
  let top: FrameEnd | undefined
  let gasUsed = 0n
  let steps = 0
  return {
    begin(_, journal) {
      state = journal
      output.nest('{"structLogs":[', ']}')
    },
    watches: 'all',
    before(step) {
      if (config.limit !== 0 && steps >= config.limit) return
      assert(state !== undefined, 'a trace begins before its steps')
      shown = before(step, state)
    },
    step(step) {
      if (config.limit !== 0 && steps >= config.limit) return
      assert(state !== undefined, 'a trace begins before its steps')
      output.write(`${steps++ === 0 ? '' : ','}${line(step, shown ?? before(step, state))}`)
      shown = undefined
    },
    exit(frame) {
      if (frame.depth === 0) top = { ...frame, output: copyBytes(frame.output) }
    },
    end(end) {
      gasUsed = end.gasUsed
    },
    result() {
      const error = top?.error
      const shown = top !== undefined && (error === undefined || error === REASON.revert)
      const returnValue = shown ? dataJson(top?.output as Uint8Array) : '"0x"'
      output.close(`],"gas":${gasUsed},"failed":${error !== undefined},"returnValue":${returnValue}}`)
      return []
    },
  }
}
