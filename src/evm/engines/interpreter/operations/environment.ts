import type { Execution, Price } from '../execution.ts'
import type { Frame } from '../frame.ts'
import { placeOf, wordOfBytes } from '../words.ts'
import { entry, type Operation, type OperationEntry } from './operation.ts'

/* What code sees of its message, its transaction and its block. */

const BLOCK_HASHES = 256n
const WORD_BYTES = 32

const pushes =
  (value: (frame: Frame, vm: Execution) => bigint): Operation =>
  (frame, vm) =>
    frame.push(value(frame, vm))

const callDataLoad: Operation = frame => {
  const { input } = frame.context
  const offset = placeOf(frame.pop())
  if (offset >= input.byteLength) {
    frame.push(0n)
    return
  }
  const given = input.subarray(offset, offset + WORD_BYTES)
  frame.push(wordOfBytes(given) << BigInt(8 * (WORD_BYTES - given.byteLength)))
}

/** Whether a number is one of the last blocks'. */
const isRecent = (number: bigint, { block }: Execution): boolean =>
  number < block.number && block.number - number <= BLOCK_HASHES

/** Finds the hash of a block whose hash has to be found. */
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
  frame.push(BigInt(blobHashes[placeOf(frame.pop())] ?? 0n))
}

export const ENVIRONMENT: readonly OperationEntry[] = [
  entry(
    0x30,
    2,
    pushes(({ context }) => context.addressWord),
  ),
  entry(
    0x32,
    2,
    pushes((_, vm) => vm.origin),
  ),
  entry(
    0x33,
    2,
    pushes(({ context }) => context.callerWord),
  ),
  entry(
    0x34,
    2,
    pushes(({ context }) => context.value),
  ),
  entry(0x35, 3, callDataLoad),
  entry(
    0x36,
    2,
    pushes(({ context }) => BigInt(context.input.byteLength)),
  ),
  entry(
    0x38,
    2,
    pushes(({ code }) => BigInt(code.bytes.byteLength)),
  ),
  entry(
    0x3a,
    2,
    pushes((_, vm) => vm.gasPrice),
  ),
  entry(
    0x3d,
    2,
    pushes(({ returnData }) => BigInt(returnData.byteLength)),
  ),
  entry(0x40, 20, blockHash, blockHashPrice),
  entry(
    0x41,
    2,
    pushes((_, vm) => vm.block.coinbase),
  ),
  entry(
    0x42,
    2,
    pushes((_, vm) => vm.block.timestamp),
  ),
  entry(
    0x43,
    2,
    pushes((_, vm) => vm.block.number),
  ),
  entry(
    0x44,
    2,
    pushes((_, vm) => vm.block.prevRandao),
  ),
  entry(
    0x45,
    2,
    pushes((_, vm) => vm.block.gasLimit),
  ),
  entry(
    0x46,
    2,
    pushes((_, vm) => vm.block.chainId),
  ),
  entry(
    0x47,
    5,
    pushes((frame, vm) => vm.journal.balance(frame.context.address)),
  ),
  entry(
    0x48,
    2,
    pushes((_, vm) => vm.block.baseFee),
  ),
  entry(0x49, 3, blobHash),
  entry(
    0x4a,
    2,
    pushes((_, vm) => vm.block.blobBaseFee),
  ),
]
