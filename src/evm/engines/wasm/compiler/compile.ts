import type { EvmFork } from '../../../../config/forks.ts'
import { type OpcodeRow, opcodesOf } from '../opcodes.ts'
import { type BasicBlock, blocksOf, destinationsOf } from './blocks.ts'
import { ByteWriter } from './byte-writer.ts'
import { FunctionWriter, R } from './function-writer.ts'
import { I, IMPORTS, SIGNATURES, T, VOID } from './instructions.ts'
import { type Addresses, ANSWER, FRAME } from './layout.ts'
import { writePart } from './part-writer.ts'

/** Name under which a compiled module exports its function. */
export const RUN = 'run'
/** Module name of all imports. */
export const IMPORT_MODULE = 'e'

/** Opcodes of one function at most: the time of V8's compilers grows faster than a function. */
const PART_OPS = 1_500
/** Size of a module at most; the rest of the code is interpreted. */
const MODULE_BYTES = 1024 * 1024

const tables = new Map<EvmFork, ReadonlyMap<number, OpcodeRow>>()
const tableOf = (fork: EvmFork): ReadonlyMap<number, OpcodeRow> => {
  const table = tables.get(fork) ?? new Map(opcodesOf(fork).map(row => [row.op, row]))
  tables.set(fork, table)
  return table
}

/** Consecutive blocks that make one function each. */
const partsOf = (blocks: readonly BasicBlock[]): readonly (readonly BasicBlock[])[] => {
  const parts: BasicBlock[][] = []
  let ops = PART_OPS
  for (const block of blocks) {
    if (ops + block.ops > PART_OPS) {
      parts.push([])
      ops = 0
    }
    ops += block.ops
    parts.at(-1)?.push(block)
  }
  return parts
}

const startOf = ([first]: readonly BasicBlock[]): number => (first as BasicBlock).start

/** Goes from part to part until one answers for itself. */
const writeDispatch = (parts: readonly (readonly BasicBlock[])[]): Uint8Array => {
  const w = new FunctionWriter()
  const { label, answer, sp: part } = R
  w.const32(-1)
  w.set(part)
  w.op(I.loop, VOID)
  w.get(R.frame)
  w.memory(I.load32, FRAME.pc)
  w.get(R.frame)
  w.memory(I.load32, FRAME.code)
  w.op(I.subtract32)
  w.set(label)
  // Nested choice: the first part that ends after the PC.
  w.const32(parts.length - 1)
  for (let i = parts.length - 2; i >= 0; i--) {
    w.const32(i)
    w.get(label)
    w.const32(startOf(parts[i + 1] as readonly BasicBlock[]))
    w.op(I.notLessUnsigned32, I.select)
  }
  w.tee(answer)
  w.get(part)
  w.op(I.ne32)
  w.if()
  w.get(answer)
  w.set(part)
  for (let i = 0; i < parts.length; i++) {
    w.get(part)
    w.const32(i)
    w.op(I.eq32)
    w.if()
    w.get(R.frame)
    w.get(R.pauseAt)
    w.op(I.call)
    w.out.unsigned(IMPORTS.length + i)
    w.set(answer)
    w.end()
  }
  w.get(answer)
  w.const32(ANSWER.interpret)
  w.op(I.eq32)
  w.if()
  w.branch(2)
  w.end()
  w.get(answer)
  w.op(I.return)
  w.end()
  w.end()
  w.const32(ANSWER.interpret)
  w.end()
  return w.finish()
}

const name = (text: string): readonly number[] => [text.length, ...Buffer.from(text)]
const section = (out: ByteWriter, id: number, write: (body: ByteWriter) => void): void => {
  const body = new ByteWriter()
  write(body)
  out.byte(id)
  out.unsigned(body.length)
  out.append(body.finish())
}

/** Module of functions of the first type; the last of them is exported. */
const moduleOf = (functions: readonly Uint8Array[]): Uint8Array => {
  const out = new ByteWriter()
  out.append([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0])
  section(out, 1, body => {
    body.unsigned(SIGNATURES.length)
    for (const { takes, gives } of SIGNATURES) {
      body.append([T.function, takes.length, ...takes, gives.length, ...gives])
    }
  })
  section(out, 2, body => {
    body.unsigned(IMPORTS.length + 1)
    for (const [imported, signature] of IMPORTS) {
      body.append([...name(IMPORT_MODULE), ...name(imported), 0, SIGNATURES.indexOf(signature)])
    }
    body.append([...name(IMPORT_MODULE), ...name('memory'), 2, 0, 0])
  })
  section(out, 3, body => {
    body.unsigned(functions.length)
    for (const _ of functions) body.byte(0)
  })
  section(out, 7, body => {
    body.append([1, ...name(RUN), 0])
    body.unsigned(IMPORTS.length + functions.length - 1)
  })
  section(out, 10, body => {
    body.unsigned(functions.length)
    for (const bytes of functions) body.append(bytes)
  })
  return out.finish()
}

interface CompiledCode {
  readonly module: Uint8Array
  /** PC at which each of its functions begins. */
  readonly starts: readonly number[]
}

/** Compiles a code for a fork. Returns undefined where nothing of it would run. */
export const compileCode = (bytes: Uint8Array, fork: EvmFork, addresses: Addresses): CompiledCode | undefined => {
  const table = tableOf(fork)
  const blocks = blocksOf(bytes, table)
  if (blocks.length === 0) return undefined
  const code = { bytes, destinations: destinationsOf(bytes), table, addresses }
  const parts: (readonly BasicBlock[])[] = []
  const functions: Uint8Array[] = []
  let size = 0
  for (const part of partsOf(blocks)) {
    const written = writePart(code, part)
    size += written.byteLength
    if (size > MODULE_BYTES) break
    parts.push(part)
    functions.push(written)
  }
  if (parts.length === 0) return undefined
  return {
    module: moduleOf([...functions, writeDispatch(parts)]),
    starts: parts.map(startOf),
  }
}
