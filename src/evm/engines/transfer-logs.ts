import type { EVMResult, EVMRunCallOpts, Message } from '@ethereumjs/evm'
import type { Address } from '@ethereumjs/util'
import type { Log } from '../../primitives/log.ts'
import { bigintToBytes, bytesToHex, EMPTY_BYTES, type Hex, hexToBytes } from '../../util/bytes.ts'
import type { RawLog } from './message-effects.ts'

/*
 * Transfers of wei as logs (ERC-7528): a Transfer event at an address that stands for the native token, before the logs of the
 * frame that received them. A frame that fails takes its logs with it, these too.
 */

/** The address of ERC-7528. This very array marks the logs made here: code may log from that address as well. */
const NATIVE_TOKEN = new Uint8Array(20).fill(0xee)
/** keccak256 of Transfer(address,address,uint256). */
const TRANSFER = hexToBytes('0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef')

export const isTransferLog = ([address]: RawLog): boolean => address === NATIVE_TOKEN

const word = (bytes: Uint8Array): Uint8Array => {
  const out = new Uint8Array(32)
  out.set(bytes, 32 - bytes.byteLength)
  return out
}

export const transferLog = (from: Uint8Array, to: Uint8Array, wei: bigint): RawLog => [
  NATIVE_TOKEN,
  [TRANSFER, word(from), word(to)],
  word(bigintToBytes(wei)),
]

/** Puts the transfer of a message in front of the logs of its frame. DELEGATECALL and CALLCODE move nothing. */
export const logTransfer = (
  { message, caller, to, value }: EVMRunCallOpts,
  logs: RawLog[],
  run: () => Promise<EVMResult>,
): Promise<EVMResult> => {
  const wei = message?.value ?? value ?? 0n
  const from = message?.caller ?? caller
  const receiver = message?.to ?? to
  if (wei === 0n || message?.delegatecall === true || from === undefined) return run()
  if (receiver !== undefined && isForeignCode(message, receiver)) return run()
  const index = logs.length
  logs.push(transferLog(from.bytes, receiver?.bytes ?? EMPTY_BYTES, wei))
  if (receiver !== undefined) return run()
  return run().then(result => {
    // The address of a creation is known by now. One that failed leaves no log.
    logs[index] = transferLog(from.bytes, result.createdAddress?.bytes ?? EMPTY_BYTES, wei)
    return result
  })
}

const isForeignCode = (message: Message | undefined, receiver: Address): boolean =>
  message !== undefined && !message.codeAddress.equals(receiver)

/** The same for a transfer that needed no engine. */
export const transferLogOf = (from: Hex, to: Hex, wei: bigint): Log => {
  const [address, topics, data] = transferLog(hexToBytes(from), hexToBytes(to), wei)
  return { address: bytesToHex(address), topics: topics.map(bytesToHex), data }
}
