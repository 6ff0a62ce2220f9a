import { bytesToBigint } from '@tandem/base/bytes.ts'
import type { Frame } from '../frame/frame.ts'
import type { Execution, Operation, Price } from '../transaction/execution.ts'
import { offsetFromWord } from '../words.ts'
import { entry, type OperationEntry } from './operation.ts'

/* Opcodes that read the message, the transaction and the block. */

const BLOCK_HASHES = 256n
const WORD_BYTES = 32
const BASE_PRICE = 2

const pushes =
  (value: (frame: Frame, vm: Execution) => bigint): Operation =>
  (frame, vm) =>
    frame.push(value(frame, vm))

/** Opcode that pushes one word for the base price and takes none. */
const quick = (opcode: number, value: (frame: Frame, vm: Execution) => bigint): OperationEntry =>
  entry(opcode, BASE_PRICE, pushes(value))

const callDataLoad: Operation = frame => {
  const { input } = frame.context
  const offset = offsetFromWord(frame.pop())
  if (offset >= input.byteLength) {
    frame.push(0n)
    return
  }
  const given = input.subarray(offset, offset + WORD_BYTES)
  frame.push(bytesToBigint(given) << BigInt(8 * (WORD_BYTES - given.byteLength)))
}

/** True for the number of a recent block. */
const isRecent = (number: bigint, { block }: Execution): boolean =>
  number < block.number && block.number - number <= BLOCK_HASHES

/** Computes the hash of a block, where it is not known yet. */
const blockHashPrice: Price = (frame, vm) => {
  const word = frame.peek(0)
  if (vm.options.blockHash === undefined || !isRecent(word, vm)) return 0
  const number = Number(word)
  const finding = vm.blockHashes.has(number) ? undefined : vm.options.blockHash(number)
  return finding === undefined ? 0 : vm.waitFor(finding.then(hash => vm.blockHashes.set(number, hash)))
}

const blockHash: Operation = (frame, vm) => {
  const word = frame.pop()
  const number = Number(word)
  frame.push(isRecent(word, vm) ? BigInt(vm.blockHashes.get(number) ?? vm.env.blockHash(number)) : 0n)
}

const blobHash: Operation = (frame, { blobHashes }) => {
  frame.push(BigInt(blobHashes[offsetFromWord(frame.pop())] ?? 0n))
}

export const ENVIRONMENT: readonly OperationEntry[] = [
  quick(0x30, ({ context }) => context.addressWord),
  quick(0x32, (_, vm) => vm.origin),
  quick(0x33, ({ context }) => context.callerWord),
  quick(0x34, ({ context }) => context.value),
  entry(0x35, 3, callDataLoad),
  quick(0x36, ({ context }) => BigInt(context.input.byteLength)),
  quick(0x38, ({ code }) => BigInt(code.bytes.byteLength)),
  quick(0x3a, (_, vm) => vm.gasPrice),
  quick(0x3d, ({ returnData }) => BigInt(returnData.byteLength)),
  entry(0x40, 20, blockHash, blockHashPrice),
  quick(0x41, (_, vm) => vm.block.coinbase),
  quick(0x42, (_, vm) => vm.block.timestamp),
  quick(0x43, (_, vm) => vm.block.number),
  quick(0x44, (_, vm) => vm.block.prevRandao),
  quick(0x45, (_, vm) => vm.block.gasLimit),
  quick(0x46, (_, vm) => vm.block.chainId),
  entry(
    0x47,
    5,
    pushes((frame, vm) => vm.journal.balance(frame.context.address)),
  ),
  quick(0x48, (_, vm) => vm.block.baseFee),
  entry(0x49, 3, blobHash),
  quick(0x4a, (_, vm) => vm.block.blobBaseFee),
]
