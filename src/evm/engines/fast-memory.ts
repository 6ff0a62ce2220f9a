import { EVMError } from '@ethereumjs/evm'
import type { Memory, RunState } from './run-state.ts'

/** Past this end the price of the memory exceeds every gas limit there can be (2^46 gas). */
const MAX_MEMORY_END = 2n ** 32n

export const outOfGas = (): never => {
  throw new EVMError(EVMError.errorMessages.OUT_OF_GAS)
}

/** Gas of growing the memory to cover the range; notes the new size (yellow paper, C_mem). */
export const expandMemory = (state: RunState, offset: bigint, length: bigint): bigint => {
  if (length === 0n) return 0n
  const end = offset + length
  if (end > MAX_MEMORY_END) return outOfGas()
  const words = Math.ceil(Number(end) / 32)
  if (words <= Number(state.memoryWordCount)) return 0n
  const cost = BigInt(words * 3 + Math.floor((words * words) / 512))
  const added = cost - state.highestMemCost
  state.memoryWordCount = BigInt(words)
  state.highestMemCost = cost
  return added
}

/** 32-byte words a length fills. */
export const wordCount = (length: bigint): bigint => (length + 31n) >> 5n

/** Grows by doubling; EthereumJS adds 8 KiB at a time and copies everything each time. */
export function growMemory(this: Memory, offset: number, size: number): void {
  if (size === 0) return
  const end = Math.ceil((offset + size) / 32) * 32
  if (end <= this._store.byteLength) return
  const grown = Buffer.alloc(Math.max(end, this._store.byteLength * 2))
  grown.set(this._store)
  this._store = grown
}
